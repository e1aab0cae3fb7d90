// Writes data/languages.json from the linguist-languages package: `node scripts/languages.js`. A test compares the two.
import { writeFileSync } from 'node:fs';
import * as linguist from 'linguist-languages';

/** The preferred languages of well-known extensions that several languages claim. */
const PREFERRED = {
  '.asm': 'Assembly',
  '.bas': 'Visual Basic .NET',
  '.cc': 'C++',
  '.cl': 'OpenCL',
  '.cls': 'Apex',
  '.cp': 'C++',
  '.cs': 'C#',
  '.d': 'D',
  '.ex': 'Elixir',
  '.f': 'Fortran',
  '.fs': 'F#',
  '.gd': 'GDScript',
  '.gs': 'JavaScript',
  '.h': 'C',
  '.html': 'HTML',
  '.inc': 'PHP',
  '.j': 'Objective-J',
  '.json': 'JSON',
  '.l': 'Common Lisp',
  '.lisp': 'Common Lisp',
  '.m': 'Objective-C',
  '.md': 'Markdown',
  '.ml': 'OCaml',
  '.mm': 'Objective-C++',
  '.mod': 'Go Module',
  '.php': 'PHP',
  '.pl': 'Perl',
  '.pm': 'Perl',
  '.pp': 'Puppet',
  '.pro': 'Prolog',
  '.properties': 'Java Properties',
  '.q': 'q',
  '.r': 'R',
  '.rb': 'Ruby',
  '.res': 'XML',
  '.rs': 'Rust',
  '.s': 'Assembly',
  '.sc': 'Scala',
  '.sh': 'Shell',
  '.sol': 'Solidity',
  '.spec': 'RPM Spec',
  '.sql': 'SQL',
  '.st': 'Smalltalk',
  '.svg': 'SVG',
  '.t': 'Perl',
  '.tex': 'TeX',
  '.toc': 'TeX',
  '.tpl': 'Smarty',
  '.ts': 'TypeScript',
  '.tsx': 'TypeScript',
  '.txt': 'Text',
  '.v': 'Verilog',
  '.vb': 'Visual Basic .NET',
  '.xml': 'XML',
  '.yaml': 'YAML',
  '.yml': 'YAML',
  '.as': 'ActionScript',
  '.cmd': 'Batchfile',
  '.bat': 'Batchfile',
  '.frag': 'GLSL',
  '.vert': 'GLSL',
  '.g': 'GAP',
  '.lua': 'Lua',
  '.nix': 'Nix',
  '.zig': 'Zig',
};

/** @returns {{preferred: Record<string, string>, names: Record<string, string>, extensions: Record<string, string>}} */
export function languageTable() {
  const languages = Object.values(linguist)
    .filter((language) => typeof language === 'object' && language !== null && 'name' in language)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(languages.map((language) => [language.name, language]));
  const counted = (language) => language.group ?? language.name;
  const names = {};
  const claims = {};
  for (const language of languages) {
    for (const name of language.filenames ?? []) names[name] ??= counted(language);
    for (const [position, extension] of (language.extensions ?? []).entries()) {
      const key = extension.toLowerCase();
      claims[key] ??= [];
      if (!claims[key].some((claim) => claim.language === language))
        claims[key].push({ language, isFirst: position === 0 });
    }
  }
  const extensions = {};
  for (const [extension, of] of Object.entries(claims))
    extensions[extension] = counted((of.find(({ isFirst }) => isFirst) ?? of[0]).language);
  for (const [extension, name] of Object.entries(PREFERRED)) {
    const language = byName.get(name);
    if (language === undefined) throw new Error(`no language is called ${name} (${extension})`);
    extensions[extension] = counted(language);
  }
  const sorted = (record) => Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { preferred: sorted(PREFERRED), names: sorted(names), extensions: sorted(extensions) };
}

if (process.argv[1]?.endsWith('languages.js')) {
  const text = `${JSON.stringify(languageTable(), null, 1)}\n`;
  writeFileSync(new URL('../data/languages.json', import.meta.url), text);
}

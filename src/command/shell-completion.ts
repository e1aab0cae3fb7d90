import type { Argument, Command, Option } from 'commander';

/** The possible values in a place: some words, or the path of a file or folder, or anything. */
interface Values {
  readonly words: readonly string[];
  readonly paths: 'file' | 'folder' | undefined;
}

interface CompletedOption {
  /** For example `-f` and `--file`. */
  readonly names: readonly string[];
  readonly about: string;
  /** Undefined for an option without a value. */
  readonly values: Values | undefined;
}

/** A word that can be typed, with its meaning. */
interface Word {
  readonly word: string;
  readonly about: string;
}

/** A command to complete. Its name is the words after the program's name, empty for the program itself. */
interface CompletedCommand {
  readonly name: string;
  readonly commands: readonly Word[];
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly (Values & { readonly isLast: boolean })[];
}

/** The placeholders in help that stand for paths, as in `--file <file>`. */
const PATHS: Readonly<Record<string, Values['paths']>> = { file: 'file', path: 'file', folder: 'folder' };

function valuesOf(placeholder: string, choices: readonly string[] = []): Values {
  return { words: choices, paths: choices.length > 0 ? undefined : PATHS[placeholder] };
}

function optionOf({ short, long, flags, description, argChoices }: Option): CompletedOption {
  const placeholder = /[<[]([^<[]*?)(?:\.\.\.)?[>\]]$/.exec(flags)?.[1];
  return {
    names: [short, long].filter((name) => name !== undefined),
    about: description,
    values: placeholder === undefined ? undefined : valuesOf(placeholder, argChoices),
  };
}

function argumentOf(argument: Argument): CompletedCommand['arguments'][number] {
  return { ...valuesOf(argument.name(), argument.argChoices), isLast: argument.variadic };
}

/** A command and all its subcommands. The program's options can follow any command. */
function completed(
  command: Command,
  path: readonly string[],
  general: readonly Option[],
): CompletedCommand[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const options = [...new Set([...help.visibleOptions(command), ...general])];
  return [
    {
      name: path.join(' '),
      commands: below.map((one) => ({ word: one.name(), about: one.description() })),
      options: options.map(optionOf),
      arguments: command.registeredArguments.map(argumentOf),
    },
    ...command.commands.flatMap((one) => completed(one, [...path, one.name()], general)),
  ];
}

/** The completion script for a shell, generated from the program's commands. */
export function completionFor(shell: 'bash' | 'zsh' | 'fish', program: Command): string {
  const commands = completed(
    program,
    [],
    program.options.filter(({ long }) => long !== '--version'),
  );
  return `${{ bash, zsh, fish }[shell](commands)}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * The effect of a word before the cursor, by "command|word": it leads to another command, or, if undefined, takes the next word as
 * its value.
 */
function steps(commands: readonly CompletedCommand[]): { readonly at: string; readonly to?: string }[] {
  return commands.flatMap(({ name, options, commands: below }) => [
    ...options
      .filter(({ values }) => values !== undefined)
      .flatMap(({ names }) => names.map((option) => ({ at: `${name}|${option}` }))),
    ...below.map(({ word }) => ({ at: `${name}|${word}`, to: `${name} ${word}`.trim() })),
  ]);
}

/** The steps as branches of a bash or zsh `case`. */
function stepBranches(commands: readonly CompletedCommand[]): string {
  return steps(commands)
    .map(
      ({ at, to }) =>
        `      ${quote(at)}) ${to === undefined ? 'option=$word' : `at=${quote(to)} place=0`} ;;`,
    )
    .join('\n');
}

/** Branches of a `case` on "$at" that set a command's options or subcommands. */
function wordBranches(
  commands: readonly CompletedCommand[],
  which: 'options' | 'commands',
  set: (words: readonly Word[]) => string,
): string {
  return commands
    .flatMap((command) => {
      const words =
        which === 'commands'
          ? command.commands
          : command.options.flatMap(({ names, about }) => names.map((word) => ({ word, about })));
      return words.length === 0 ? [] : [`      ${quote(command.name)}) ${set(words)} ;;`];
    })
    .join('\n');
}

/** The places of a command, each after an option or as an argument, with their possible values. */
function places(
  commands: readonly CompletedCommand[],
  branch: (place: string, values: Values) => string,
): string {
  return commands
    .flatMap(({ name, options, arguments: all }) => [
      ...options.flatMap(({ names, values }) =>
        values === undefined ? [] : [branch(names.map((one) => quote(`${name}|${one}`)).join('|'), values)],
      ),
      ...all.map((values, index) =>
        branch(values.isLast ? `${quote(`${name}|`)}*` : quote(`${name}|${index}`), values),
      ),
    ])
    .filter((text) => text !== '')
    .join('\n');
}

function bash(commands: readonly CompletedCommand[]): string {
  const branch = (place: string, { words, paths }: Values) => {
    if (words.length > 0) return `    ${place}) words=${quote(words.join(' '))} ;;`;
    return paths === undefined ? '' : `    ${place}) paths=${paths} ;;`;
  };
  const set = (all: readonly Word[]) => `words=${quote(all.map(({ word }) => word).join(' '))}`;
  return `# Completes daybook in bash.
_daybook() {
  local current=\${COMP_WORDS[COMP_CWORD]} at='' option='' place=0 words='' paths='' word i
  local IFS=$' \\t\\n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # The shell cuts --option=value into three words.
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $option ]]; then option=''; continue; fi
    case "$at|$word" in
${stepBranches(commands)}
      *'|-'*) ;;
      *) place=$((place + 1)) ;;
    esac
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -z $option && $current == -* ]]; then
    case "$at" in
${wordBranches(commands, 'options', set)}
    esac
  elif [[ -z $option && $place == 0 ]]; then
    case "$at" in
${wordBranches(commands, 'commands', set)}
    esac
  fi
  if [[ -z $words && ( -n $option || $current != -* ) ]]; then
    case "$at|\${option:-$place}" in
${places(commands, branch)}
    esac
  fi
  if [[ -n $paths ]]; then
    compopt -o filenames 2> /dev/null
    local IFS=$'\\n'
    if [[ $paths == folder ]]; then COMPREPLY=($(compgen -d -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _daybook daybook`;
}

/** Words with their meanings, as zsh's _describe expects them. */
function described(all: readonly Word[]): string {
  return all.map(({ word, about }) => quote(`${word.replaceAll(':', '\\:')}:${about}`)).join(' ');
}

function zsh(commands: readonly CompletedCommand[]): string {
  const branch = (place: string, { words, paths }: Values) => {
    if (words.length > 0) return `    ${place}) words_=(${words.map(quote).join(' ')}) ;;`;
    return paths === undefined ? '' : `    ${place}) _files${paths === 'folder' ? ' -/' : ''}; return ;;`;
  };
  const set = (all: readonly Word[]) => `words_=(${described(all)})`;
  return `#compdef daybook
# Completes daybook in zsh.
_daybook() {
  local at='' option='' word i
  local -a words_
  integer place=0
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $option ]]; then option=''; continue; fi
    case "$at|$word" in
${stepBranches(commands)}
      *'|-'*) ;;
      *) place=$((place + 1)) ;;
    esac
  done
  if [[ -z $option && \${words[CURRENT]} == --*=* ]]; then
    option=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  if [[ -z $option && \${words[CURRENT]} == -* ]]; then
    case "$at" in
${wordBranches(commands, 'options', set)}
    esac
  elif [[ -z $option && $place == 0 ]]; then
    case "$at" in
${wordBranches(commands, 'commands', set)}
    esac
  fi
  if (( \${#words_} == 0 )); then
    case "$at|\${option:-$place}" in
${places(commands, branch)}
    esac
  fi
  (( \${#words_} )) && _describe -t values 'daybook' words_
}
if [[ $funcstack[1] == _daybook ]]; then _daybook "$@"; else compdef _daybook daybook; fi`;
}

function fish(commands: readonly CompletedCommand[]): string {
  const text = (about: string) => `'${about.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const taking = ({ words, paths }: Values) => {
    if (words.length > 0) return ` -x -a ${text(words.join(' '))}`;
    return paths === undefined
      ? ' -x'
      : paths === 'folder'
        ? " -x -a '(__fish_complete_directories)'"
        : ' -r -F';
  };
  const lines = commands.flatMap(({ name, commands: below, options, arguments: all }) => {
    const line = (place: number | '', rest: string) =>
      `complete -c daybook -n ${text(`__daybook_at ${JSON.stringify(name)} ${place}`.trim())}${rest}`;
    return [
      ...below.map(({ word, about }) => line(0, ` -a ${word} -d ${text(about)}`)),
      ...options.map(({ names, about, values }) => {
        const flags = names.map((one) =>
          one.startsWith('--') ? ` -l ${one.slice(2)}` : ` -s ${one.slice(1)}`,
        );
        return line('', `${flags.join('')}${values === undefined ? '' : taking(values)} -d ${text(about)}`);
      }),
      ...all.flatMap((values, index) =>
        values.words.length === 0 && values.paths === undefined
          ? []
          : [line(values.isLast ? '' : index, taking(values))],
      ),
    ];
  });
  const cases = steps(commands).map(({ at, to }) =>
    [
      `            case ${text(at)}`,
      ...(to === undefined ? ['set value 1'] : [`set at ${text(to)}`, 'set place 0']),
    ].join('\n                '),
  );
  return `# Completes daybook in fish.
function __daybook_at -d 'Whether the words name a command, and the cursor is at one of its arguments'
    set -l at ''
    set -l place 0
    set -l value ''
    set -l words (commandline -opc)
    for word in $words[2..]
        if test -n "$value"
            set value ''
            continue
        end
        switch "$at|$word"
${cases.join('\n')}
            case '*|-*'
            case '*'
                set place (math $place + 1)
        end
    end
    test "$at" = "$argv[1]"; and test (count $argv) = 1 -o "$place" = "$argv[2]"
end
complete -c daybook -f
${lines.join('\n')}`;
}

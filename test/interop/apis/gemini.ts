/** generateContent and streamGenerateContent of Gemini. Thoughts are outside the candidates' tokens. */
import { type Answer, type Api, writeEvents } from '../stub.js';

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)/;

export const GEMINI: Api = {
  modelOf: (path) => PATH.exec(path)?.[1] ?? null,
  hasTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  write: (answer, path, _body, response) => {
    const whole = contentOf(answer);
    if (PATH.exec(path)?.[2] === 'streamGenerateContent') return writeEvents(response, [{ data: whole }]);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
  },
};

function contentOf({ id, model, text, calls, usage }: Answer): object {
  const { input, cached, output, reasoning } = usage;
  const called = calls.map((call) => ({ functionCall: { id: call.id, name: call.tool, args: call.input } }));
  const parts = text === '' ? called : [{ text }, ...called];
  return {
    responseId: id,
    modelVersion: model,
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + output + reasoning,
    },
  };
}

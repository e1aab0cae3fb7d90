/** The chat completions of OpenAI, as opencode and Qwen Code use them. Reasoning is inside the output. */
import { type Answer, type Api, writeEvents } from '../stub.js';

export const OPENAI_CHAT: Api = {
  modelOf: (path, body) => (path.endsWith('/chat/completions') ? String(body.model) : null),
  hasTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  write: (answer, _path, body, response) => {
    const { id, model } = answer;
    const said = saidBy(answer);
    const finish_reason = answer.calls.length === 0 ? 'stop' : 'tool_calls';
    const created = Math.floor(Date.now() / 1000);
    const usage = usageOf(answer);
    if (body.stream !== true) {
      const choices = [{ index: 0, message: said, finish_reason }];
      const whole = { id, object: 'chat.completion', created, model, choices, usage };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
      return;
    }
    const chunk = { id, object: 'chat.completion.chunk', created, model };
    writeEvents(response, [
      { data: { ...chunk, choices: [{ index: 0, delta: said, finish_reason: null }] } },
      { data: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] } },
      { data: { ...chunk, choices: [], usage } },
      { data: '[DONE]' },
    ]);
  },
};

function saidBy({ text, calls }: Answer): object {
  const said = { role: 'assistant', content: text === '' ? null : text };
  if (calls.length === 0) return said;
  const tool_calls = calls.map(({ id, tool, input }, index) => {
    const called = { name: tool, arguments: JSON.stringify(input) };
    return { index, id, type: 'function', function: called };
  });
  return { ...said, tool_calls };
}

function usageOf({ usage: { input, cached, output, reasoning } }: Answer): object {
  return {
    prompt_tokens: input,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: output + reasoning,
    completion_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output + reasoning,
  };
}

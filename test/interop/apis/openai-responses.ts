/** The Responses API of OpenAI, as Codex uses it. Reasoning is inside the output. */
import { type Answer, type Api, writeEvents } from '../stub.js';

export const OPENAI_RESPONSES: Api = {
  modelOf: (path, body) => (path.endsWith('/responses') ? String(body.model) : null),
  hasTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  write: (answer, _path, _body, response) => {
    const { id, model } = answer;
    const output = itemsOf(answer);
    const created = { id, object: 'response', model, status: 'in_progress', output: [] };
    const completed = { ...created, status: 'completed', output, usage: usageOf(answer) };
    const events = [
      { type: 'response.created', response: created },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: completed },
    ];
    writeEvents(
      response,
      events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } })),
    );
  },
};

/** What the model says, and the tools that it calls: with a text as input it is one of the free form. */
function itemsOf({ id, text, calls }: Answer): object[] {
  const status = 'completed';
  const content = [{ type: 'output_text', text, annotations: [] }];
  const message = { type: 'message', id: `msg_${id}`, status, role: 'assistant', content };
  const called = calls.map((call) => {
    const named = { status, call_id: call.id, name: call.tool };
    return typeof call.input === 'string'
      ? { type: 'custom_tool_call', id: `ctc_${call.id}`, ...named, input: call.input }
      : { type: 'function_call', id: `fc_${call.id}`, ...named, arguments: JSON.stringify(call.input) };
  });
  return text === '' ? called : [message, ...called];
}

function usageOf({ usage: { input, cached, output, reasoning } }: Answer): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output + reasoning,
  };
}

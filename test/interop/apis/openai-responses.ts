/** The Responses API of OpenAI, as Codex uses it. Reasoning is inside the output. */
import { type Answer, type Api, writeEvents } from '../stub.js';

export const OPENAI_RESPONSES: Api = {
  modelOf: (path, body) => (path.endsWith('/responses') ? String(body.model) : null),
  hasTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  write: (answer, _path, _body, response) => {
    const { id, model } = answer;
    const item = itemOf(answer);
    const created = { id, object: 'response', model, status: 'in_progress', output: [] };
    const completed = { ...created, status: 'completed', output: [item], usage: usageOf(answer) };
    const events = [
      { type: 'response.created', response: created },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: completed },
    ];
    writeEvents(
      response,
      events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } })),
    );
  },
};

/** What the model says, or the tool that it calls: with a text as input it is one of the free form. */
function itemOf({ id, text, call }: Answer): object {
  const status = 'completed';
  if (call === undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, status, role: 'assistant', content };
  }
  const named = { status, call_id: call.id, name: call.tool };
  return typeof call.input === 'string'
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...named, input: call.input }
    : { type: 'function_call', id: `fc_${id}`, ...named, arguments: JSON.stringify(call.input) };
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

/** The messages of Anthropic, as Claude Code uses them. Cached tokens are outside the input, and thinking is inside the output. */
import { type Answer, type Api, writeEvents } from '../stub.js';

export const ANTHROPIC_MESSAGES: Api = {
  modelOf: (path, body) => (/\/v1\/messages(\?|$)/.test(path) ? String(body.model) : null),
  hasTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  write: (answer, _path, body, response) => {
    const { id, model } = answer;
    response.setHeader('request-id', `req_${id}`);
    const content = contentOf(answer);
    const stop_reason = answer.calls.length === 0 ? 'end_turn' : 'tool_use';
    const usage = usageOf(answer);
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
    if (body.stream !== true) {
      const whole = { ...message, content, stop_reason, usage };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
      return;
    }
    const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    const events = [
      { type: 'message_start', message: begun },
      ...content.flatMap(blockEvents),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    writeEvents(
      response,
      events.map((data) => ({ event: data.type, data })),
    );
  },
};

type Block =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: object | string;
    };

function contentOf({ text, calls }: Answer): Block[] {
  return [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls.map(({ id, tool, input }) => ({ type: 'tool_use', id, name: tool, input }) as const),
  ];
}

/** The events of one part of an answer. */
function blockEvents(block: Block, index: number) {
  const [content_block, delta] =
    block.type === 'text'
      ? [
          { ...block, text: '' },
          { type: 'text_delta', text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
        ];
  return [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}

function usageOf({ usage: { input, cached, output, reasoning } }: Answer): object {
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output + reasoning,
  };
}

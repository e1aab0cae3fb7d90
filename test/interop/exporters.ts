/** The official OpenTelemetry exporters for JavaScript: they report sessions of invented agents. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Numbers } from './daybook.js';

const VERSION = '0.223.0';
const SDK_VERSION = '2.12.0';

export const EXPORTERS: readonly string[] = [
  '@opentelemetry/api@1.9.0',
  `@opentelemetry/resources@${SDK_VERSION}`,
  `@opentelemetry/sdk-logs@${VERSION}`,
  `@opentelemetry/sdk-metrics@${SDK_VERSION}`,
  `@opentelemetry/sdk-trace-base@${SDK_VERSION}`,
  ...['logs', 'metrics', 'trace'].flatMap((signal) => [
    `@opentelemetry/exporter-${signal}-otlp-http@${VERSION}`,
    `@opentelemetry/exporter-${signal}-otlp-proto@${VERSION}`,
  ]),
];

/** How exporters send. */
export const FORMS = [
  { name: 'protobuf', suffix: 'proto', compression: 'none' },
  { name: 'protobuf-gzip', suffix: 'proto', compression: 'gzip' },
  { name: 'json', suffix: 'http', compression: 'none' },
  { name: 'json-gzip', suffix: 'http', compression: 'gzip' },
] as const;
export type Form = (typeof FORMS)[number];

/** The sum of what is reported below. */
export const REPORTED: Numbers = {
  sessions: '3',
  users: 'ada',
  turns: '2',
  'model calls': '4',
  'input tokens': String(10_007 + 11_020 + (12_033 - 4_423 - 54) + 13_046),
  'cache reads': String(4_001 + 4_212 + 4_423 + 4_634),
  'cache writes': String(52 + 53 + 54 + 55),
  'output tokens': String(503 + 520 + 537 + 554),
  'Bash succeeded': '1',
  'Edit failed': '1',
  'view succeeded': '1',
};

/** How a signal is reported. */
interface Sender {
  /** A package of OpenTelemetry. It is no part of the project, so nothing here knows its types. */
  readonly from: (name: string) => ReturnType<NodeJS.Require>;
  readonly form: Form;
  /** Of an exporter for a signal. */
  readonly optionsOf: (signal: string) => object;
  readonly resourceOf: (service: string) => object;
}

/** Reports three sessions, one by each signal, and answers what the exporters complain about. */
export async function report(installed: string, form: Form, url: string, key: string): Promise<string[]> {
  const require = createRequire(join(installed, 'package.json'));
  const from: Sender['from'] = (name) => require(`@opentelemetry/${name}`);
  const { diag, DiagLogLevel } = from('api');
  const complaints: string[] = [];
  const complain = (text: unknown) => complaints.push(String(text));
  diag.setLogger(
    { error: complain, warn: complain, info() {}, debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const sender: Sender = {
    from,
    form,
    optionsOf: (signal) => ({
      url: `${url}/v1/${signal}`,
      headers: { authorization: `Bearer ${key}` },
      compression: form.compression,
    }),
    resourceOf: (service) =>
      from('resources').resourceFromAttributes({ 'service.name': service, 'daybook.user_id': 'ada' }),
  };
  await reportLogs(sender);
  await reportSpans(sender);
  await reportMetrics(sender);
  return complaints;
}

/** As Claude Code does. */
async function reportLogs({ from, form, optionsOf, resourceOf }: Sender): Promise<void> {
  const { LoggerProvider, BatchLogRecordProcessor } = from('sdk-logs');
  const { OTLPLogExporter } = from(`exporter-logs-otlp-${form.suffix}`);
  const provider = new LoggerProvider({
    resource: resourceOf('claude-code'),
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(optionsOf('logs')) })],
  });
  const logger = provider.getLogger('com.anthropic.claude_code.events');
  const emit = (name: string, attributes: object) =>
    logger.emit({
      timestamp: Date.now(),
      body: `claude_code.${name}`,
      attributes: { 'event.name': name, 'session.id': 'logs', ...attributes },
    });
  emit('user_prompt', { 'prompt.id': 'p1' });
  for (const n of [0, 1])
    emit('api_request', {
      model: 'claude-sonnet-4-5',
      request_id: `req_${n}`,
      input_tokens: 10_007 + 1_013 * n,
      cache_read_tokens: 4_001 + 211 * n,
      cache_creation_tokens: 52 + n,
      output_tokens: 503 + 17 * n,
    });
  emit('tool_result', { tool_name: 'Bash', tool_use_id: 'toolu_1', success: 'true', duration_ms: 12 });
  emit('tool_result', { tool_name: 'Edit', tool_use_id: 'toolu_2', success: 'false', duration_ms: 3 });
  await provider.shutdown();
}

/** As Copilot CLI does. */
async function reportSpans({ from, form, optionsOf, resourceOf }: Sender): Promise<void> {
  const { SpanKind, context, trace } = from('api');
  const { BasicTracerProvider, BatchSpanProcessor } = from('sdk-trace-base');
  const { OTLPTraceExporter } = from(`exporter-trace-otlp-${form.suffix}`);
  const provider = new BasicTracerProvider({
    resource: resourceOf('github-copilot'),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(optionsOf('traces')))],
  });
  const tracer = provider.getTracer('github.copilot');
  const start = (name: string, kind: number, attributes: object, parent = context.active()) =>
    tracer.startSpan(
      name,
      {
        kind,
        attributes: { 'gen_ai.operation.name': name, 'gen_ai.conversation.id': 'spans', ...attributes },
      },
      parent,
    );
  const turn = start('invoke_agent', SpanKind.INTERNAL, {});
  const inTurn = trace.setSpan(context.active(), turn);
  const usage = {
    'gen_ai.response.model': 'gpt-5.5',
    'gen_ai.response.id': 'resp_1',
    'gen_ai.usage.input_tokens': 12_033,
    'gen_ai.usage.cache_read.input_tokens': 4_423,
    'gen_ai.usage.cache_write.input_tokens': 54,
    'gen_ai.usage.output_tokens': 537,
  };
  start('chat', SpanKind.CLIENT, usage, inTurn).end();
  const tool = { 'gen_ai.tool.name': 'view', 'gen_ai.tool.call.id': 'call_1' };
  start('execute_tool', SpanKind.INTERNAL, tool, inTurn).end();
  turn.end();
  await provider.shutdown();
}

/** As Claude Code does. */
async function reportMetrics({ from, form, optionsOf, resourceOf }: Sender): Promise<void> {
  const { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } = from('sdk-metrics');
  const { OTLPMetricExporter } = from(`exporter-metrics-otlp-${form.suffix}`);
  const temporalityPreference = AggregationTemporality.DELTA;
  const exporter = new OTLPMetricExporter({ ...optionsOf('metrics'), temporalityPreference });
  const provider = new MeterProvider({
    resource: resourceOf('claude-code'),
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });
  const counter = provider.getMeter('com.anthropic.claude_code').createCounter('claude_code.token.usage');
  const tokens = { input: 13_046, cacheRead: 4_634, cacheCreation: 55, output: 554 };
  for (const [type, count] of Object.entries(tokens))
    counter.add(count, { type, model: 'claude-sonnet-4-5', 'session.id': 'metrics' });
  await provider.shutdown();
}

import { expect, test } from 'vitest';
import { faultText, providerText } from '../src/network/provider-text.js';

const KEY = 'e2b_0123456789"abc';

test('what a provider says is kept without our secrets, in every form that it can repeat them in', () => {
  const said = `bad key ${KEY}, ${JSON.stringify({ KEY })}, ?x=${encodeURIComponent(KEY)}, https://u:hunter2@h/x?token=t1`;
  const text = providerText(said, [undefined, KEY]);
  expect(text).toBe('bad key ***, {"KEY":"***"}, ?x=***, https://h/x?token=***');
});

test('it is cut after the secrets are gone, so that no half of one is left', () => {
  for (let at = 1990; at < 2010; at += 1) {
    const text = providerText(`${KEY}${'x'.repeat(at)}`, [KEY]);
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(text).not.toMatch(/[e2b_\d"]/);
  }
});

test('an error is kept with its causes, each without secrets', () => {
  const cause = Object.assign(new Error(`no ${KEY}`), { error_description: `expired ${KEY}` });
  expect(faultText(new Error('failed', { cause }), [KEY])).toBe('failed: no ***: expired ***');
  expect(faultText('x', [])).toBe('x');
});

test('an error names what a provider says of it, and the member or claim that is wrong', () => {
  const refusal = Object.assign(new Error('refused'), {
    error: 'invalid_client',
    error_description: 'unknown',
  });
  expect(faultText(refusal, [])).toBe('refused: invalid_client: unknown');
  const other = { attribute: 'issuer', expected: 'https://a/', body: { issuer: 'https://a' } };
  expect(faultText(new Error('unexpected', { cause: other }), [])).toBe(
    'unexpected: issuer is "https://a", not "https://a/"',
  );
  const claim = { claim: 'aud', expected: 'daybook', claims: { aud: [KEY] } };
  expect(faultText(new Error('unexpected', { cause: claim }), [KEY])).toBe(
    'unexpected: aud is ["***"], not "daybook"',
  );
  expect(faultText(new Error('unexpected', { cause: { claim: 'iat', claims: {} } }), [])).toBe(
    'unexpected: iat is missing',
  );
});

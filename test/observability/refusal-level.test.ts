import type { ProviderEvent } from '@grantry/core'
import { expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { levelOf } from '../../packages/server/src/observability/level.ts'
import { output } from './log-output.ts'

const mismatch = 'plugin:authorization-endpoint:redirect_uri_mismatch'

const failedAt = (endpoint: string, error: string, reason: string) =>
  ({
    type: 'endpoint_failed',
    id: 'abcdefghijkl.1',
    requestId: 'abcdefghijkl',
    time: 1_800_000_000,
    endpoint,
    httpMethod: 'GET',
    status: 400,
    duration: 1,
    error,
    reason,
    description: 'The redirect_uri is not registered',
    clientId: 'web',
    detail: 'sent: https://a.example/x; registered: https://a.example/y',
  }) satisfies ProviderEvent

test('a refused authorization is a warning with the client, what it sent and what is registered', () => {
  const out = output()
  createLog(out).observe(failedAt('authorization', 'invalid_request', mismatch))
  expect(JSON.parse(out.lines[0] ?? '{}')).toMatchObject({
    level: 'warn',
    'grantry.client_id': 'web',
    'grantry.request_id': 'abcdefghijkl',
    'grantry.detail': 'sent: https://a.example/x; registered: https://a.example/y',
  })
})

test.each([
  ['authorization', 'unsupported_response_type', 'x', 'warn'],
  ['pushedAuthorization', 'invalid_request', mismatch, 'warn'],
  ['endSession', 'invalid_request', 'plugin:authorization-endpoint:post_logout_redirect_uri_mismatch', 'warn'],
  ['token', 'invalid_grant', 'plugin:authorization_code:redirect_uri_mismatch', 'warn'],
  ['token', 'invalid_grant', 'plugin:authorization_code:code_unknown', 'info'],
  // A single-page application asks with prompt=none every few minutes.
  ['authorization', 'login_required', 'x', 'info'],
  ['authorization', 'access_denied', 'x', 'info'],
])('at %s, %s with the reason %s is logged as %s', (endpoint, error, reason, level) => {
  expect(levelOf(failedAt(endpoint, error, reason))).toBe(level)
})

test.each([
  ['token_endpoint_invalid_client', 'warn'],
  ['metadata_unreachable', 'warn'],
  ['provider_access_denied', 'info'],
])('a sign-in at another provider that failed with %s is logged as %s', (reason, level) => {
  const about = { id: 'abcdefghijkl.1', requestId: 'abcdefghijkl', time: 1_800_000_000, endpoint: 'upstream' }
  expect(levelOf({ ...about, type: 'upstream_sign_in_failed', idp: 'acme', reason } as ProviderEvent)).toBe(level)
})

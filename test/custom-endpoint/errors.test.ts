import { defineEndpoint, defineFields, definePlugin, OAuthError, type OAuthErrorCode } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

declare module '@grantry/core' {
  interface OAuthErrorCodes {
    door_locked: 403
  }
}

/** A provider whose endpoint refuses every request with this error. */
async function refused(caller: 'anyone' | 'client', code: OAuthErrorCode) {
  const refuse = (): never => {
    throw new OAuthError(code, 'No', { reason: 'plugin:door:no' })
  }
  const door = defineEndpoint({ name: 'door', path: '/door', methods: ['POST'], caller, handle: refuse })
  const plugins = definePlugin('door', [door, defineFields({ errors: { door_locked: 403 } })])
  const { post } = await createTestProvider({ plugins })
  const { status, headers } = await post('door', {}, caller === 'client' ? testClient : undefined)
  return { status, challenge: headers.get('www-authenticate') }
}

describe.each(['anyone', 'client'] as const)('an endpoint for the caller %s that throws', (caller) => {
  test.each<[OAuthErrorCode, number]>([
    ['invalid_request', 400],
    ['invalid_token', 400],
    ['invalid_client', 401],
    ['insufficient_scope', 403],
    ['door_locked', 403],
    ['temporarily_unavailable', 503],
  ])('%s responds with %i', async (code, status) => {
    const challenge = status === 401 ? 'Basic realm="https://id.example.com"' : null
    expect(await refused(caller, code)).toEqual({ status, challenge })
  })
})

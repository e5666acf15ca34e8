import { type DpopOptions, dpop } from '@grantry/plugins/dpop'
import { describe, expect, test } from 'vitest'
import { clients } from '../support/fixture.ts'
import { start } from './parties.ts'

describe('dpop()', () => {
  test.each<[object, string]>([
    [{ algorithms: [] }, 'dpop(): algorithms must not be empty'],
    [{ algorithms: ['RS256'] }, 'dpop(): algorithms[0] must be one of ES256, PS256, EdDSA, Ed25519'],
    [{ algorithms: ['none'] }, 'dpop(): algorithms[0] must be one of ES256, PS256, EdDSA, Ed25519'],
    [{ maxAge: 5 }, 'dpop(): maxAge must be 10 to 600 seconds'],
    [{ clockTolerance: 61 }, 'dpop(): clockTolerance must be 0 to 60 seconds'],
    [{ nonce: 'yes' }, 'dpop(): nonce must be true or false'],
    [{ nonceLifetime: 29 }, 'dpop(): nonceLifetime must be 30 to 3600 seconds'],
    [{ bindRefreshTokens: true }, 'dpop(): bindRefreshTokens must be "public" or "all"'],
    [{ nonces: true }, 'dpop(): nonces is not a known option; did you mean nonce?'],
  ])('refuses %j', (options, message) => {
    expect(() => dpop(options as DpopOptions)).toThrow(message)
  })

  test('refuses a client whose dpopBoundAccessTokens is not a boolean', async () => {
    const wrong = clients.map((client) => ({ ...client, dpopBoundAccessTokens: 'yes' as never }))
    await expect(start({}, { clients: wrong })).rejects.toThrow('dpopBoundAccessTokens must be true or false')
  })

  test('refuses dpop_jkt that is not a thumbprint', async () => {
    const f = await start()
    const checking = f.code({ params: { dpop_jkt: 'short' } })
    await expect(checking).rejects.toMatchObject({
      code: 'invalid_request',
      details: { reason: 'plugin:dpop:jkt_malformed' },
    })
  })
})

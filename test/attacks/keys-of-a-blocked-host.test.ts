/**
 * Attack: a client has removed a stolen key, and the attacker keeps the provider from fetching the new keys. The provider must
 * not accept the old ones for longer than `maxAge`.
 */
import type { FetchKeys } from '@grantry/plugins/client-assertion'
import { expect, test } from 'vitest'
import { claims, client, createKey, outcomeOf, setUp, sign } from '../client-assertion/assertions.ts'

test('keys are not used after maxAge while their host is blocked', async () => {
  const stolen = await createKey('ES256', { kid: 'stolen' })
  let isBlocked = false
  const fetch: FetchKeys = async () => {
    if (isBlocked) throw new Error('The host is blocked')
    return Response.json({ keys: [stolen.jwk] })
  }
  const published = client({ jwks: undefined, jwksUri: 'https://service.example.com/jwks.json' })
  const f = await setUp({ jwksUri: { fetch } }, [published])
  const assertion = () => {
    const content = { ...claims(), iat: undefined, nbf: undefined, exp: f.clock.now() + 60 }
    return sign(content, stolen.privateKey, { kid: 'stolen' })
  }
  expect(await outcomeOf(f, await assertion())).toEqual([200, undefined])
  isBlocked = true
  f.clock.advance(599)
  expect(await outcomeOf(f, await assertion())).toEqual([200, undefined])
  f.clock.advance(1)
  expect(await outcomeOf(f, await assertion())).toEqual([401, 'keys_unavailable'])
})

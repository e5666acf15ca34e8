import type { UserCredentials } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

/** Returns what the user service receives for these `acr_values`. */
async function handedOver(acrValues: string, identityProviders: readonly string[] = []): Promise<UserCredentials> {
  const seen: UserCredentials[] = []
  const f = await fixture({
    clients: [
      {
        clientId: web[0],
        secrets: [{ sha256: sha256Of(web[1]) }],
        grantTypes: ['password'],
        scopes: ['api1'],
        accessTokenFormat: 'reference',
        identityProviders: [...identityProviders],
      },
    ],
    users: {
      authenticate(credentials) {
        seen.push(credentials)
        return { sub: '1' }
      },
    },
  })
  const form = { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1', acr_values: acrValues }
  expect((await f.post('token', form, web)).status).toBe(200)
  const [credentials] = seen
  if (credentials === undefined) throw new Error('the user service was not called')
  return credentials
}

const alice = { username: 'alice', password: 'x' }

describe('acr_values', () => {
  test.each([
    ['nothing', '', {}],
    ['an idp', 'idp:google', { idp: 'google' }],
    ['a tenant', 'tenant:acme', { tenant: 'acme' }],
    ['something else', 'gold', { acrValues: ['gold'] }],
    [
      'all of them',
      'gold idp:google silver tenant:acme',
      { idp: 'google', tenant: 'acme', acrValues: ['gold', 'silver'] },
    ],
    ['values with colons', 'idp:urn:x:1 tenant:a:b', { idp: 'urn:x:1', tenant: 'a:b' }],
    ['two of each', 'idp:a idp:b tenant:c tenant:d', { idp: 'a', tenant: 'c', acrValues: ['idp:b', 'tenant:d'] }],
    ['several spaces', '  gold   idp:a ', { idp: 'a', acrValues: ['gold'] }],
    ['a value twice', 'x x', { acrValues: ['x'] }],
    ['repeated values', 'b a b idp:i idp:i tenant:t a tenant:t', { idp: 'i', tenant: 't', acrValues: ['b', 'a'] }],
    ['another case', 'IDP:google Tenant:acme', { acrValues: ['IDP:google', 'Tenant:acme'] }],
  ])('3.17 with %s, the user service receives its parts', async (_, acrValues, expected) => {
    expect(await handedOver(acrValues)).toEqual({ ...alice, ...expected })
  })

  test('3.18 drops an idp that is not allowed to the client', async () => {
    expect(await handedOver('idp:google tenant:acme gold', ['adfs'])).toEqual({
      ...alice,
      tenant: 'acme',
      acrValues: ['gold'],
    })
  })

  test('3.18 passes on an idp that is allowed to the client', async () => {
    expect(await handedOver('idp:adfs', ['google', 'adfs'])).toEqual({ ...alice, idp: 'adfs' })
  })

  test.each(['idp:ADFS', 'idp:adf', 'idp:adfs2', 'idp:'])('3.18 "%s" is not the allowed adfs', async (acrValues) => {
    expect(await handedOver(acrValues, ['adfs'])).toEqual(alice)
  })
})

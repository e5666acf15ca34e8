/**
 * Attack: a plugin with a fault, or with a thief who steers it, issues what clients accept from another plugin, such as a
 * logout token for a user of its choice. Only the plugin that declares a type signs it, in every way to sign.
 *
 * RFC 8725 section 3.11; OpenID Connect Back-Channel Logout 1.0 section 2.4.
 */
import { assertions, defineFields, definePlugin } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const typ = 'logout+jwt'
const declared = defineFields({ signs: { [typ]: { events } } })

/** Grants that try to issue a logout token for alice. */
const grants = {
  'urn:example:assertion': testGrant({
    grantType: 'urn:example:assertion',
    scope: 'foreign',
    handle: () => ({
      subject: { sub: 'alice', amr: ['pwd'] },
      scopes: [],
      assertion: { typ, tokenType: 'urn:example:token', audience: 'web', scopes: [], lifetime: 60, claims: { events } },
    }),
  }),
  'urn:example:sign': testGrant({
    grantType: 'urn:example:sign',
    scope: 'optional',
    handle: async (_request, kit) => ({
      scopes: [],
      response: { word: await kit.sign(typ, { sub: 'alice', aud: 'web', exp: kit.now() + 60, events }) },
    }),
  }),
}

describe.each(Object.entries(grants))('%s', (grantType, grant) => {
  test.each([
    ['issues a type that its plugin has declared', 'grants', 200],
    ['does not issue a type that another plugin has declared', 'logout', 500],
  ])('%s', async (_, owner, expected) => {
    const parts = [assertions, grant]
    const plugins = [
      definePlugin('grants', owner === 'grants' ? [...parts, declared] : parts),
      owner !== 'grants' && definePlugin(owner, [declared]),
    ]
    const f = await createTestProvider({ plugins })
    expect((await f.post('token', { grant_type: grantType }, testClient)).status).toBe(expected)
  })
})

/**
 * Attack: a user whose `sub` is `billing` exchanges a token as the actor. An API that lets the client `billing` act for
 * users takes the user for that client, by `act.sub`.
 *
 * RFC 9700 section 4.15: a client and a user must be distinguishable. An actor that is a client has `client_id` too.
 */
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { testGrant } from '../support/test-grant.ts'
import { app, issuer, originalKey, service, setUp, typeOf } from '../token-exchange/exchange-parties.ts'

const [client] = service

/** Issues a token to any client, for a user with the name of a client. */
const account = testGrant({
  grantType: 'urn:example:account',
  handle: ({ scopes }) => ({ subject: { sub: client, amr: ['pwd'] }, scopes }),
})

async function setUpAttack(as = app) {
  const f = await setUp({ allow: ({ scopes }) => ({ scopes: ['front', 'api', ...scopes] }) }, [account])
  const token = String((await f.post({ grant_type: 'urn:example:account', scope: 'front' }, as)).body.access_token)
  const actor = { actor_token: await f.clientToken(service), actor_token_type: typeOf('access_token') }
  return { ...f, actor, attacker: { ...actor, actor_token: token } }
}

describe('a user with the name of a client', () => {
  test('is distinguished from the client as an actor, also in a chain', async () => {
    const { actor, attacker, exchange, logIn } = await setUpAttack()
    const { access_token: token } = await logIn()
    const byClient = (await exchange(token, actor)).body
    const byUser = (await exchange(token, attacker)).body
    expect(claimsOf(byClient).act).toEqual({ sub: client, client_id: client })
    expect(claimsOf(byUser).act).toEqual({ sub: client })
    const nested = (await exchange(byClient.access_token, attacker)).body
    expect(claimsOf(nested).act).toEqual({ sub: client, act: { sub: client, client_id: client } })
  })

  test.each([
    ['its own client', app],
    ['the client with its name', service],
  ])('is not the client that may_act names, with a token of %s', async (_, as) => {
    const { actor, attacker, exchange, originalClaims } = await setUpAttack(as)
    const token = await originalKey.sign(
      originalClaims({ sub: 'alice', may_act: { iss: issuer, sub: client, client_id: client } }),
    )
    const jwt = { subject_token_type: typeOf('jwt'), scope: 'api' }
    expect((await exchange(token, { ...jwt, ...attacker })).failure).toBe('plugin:token-exchange:may_not_act')
    expect((await exchange(token, { ...jwt, ...actor })).status).toBe(200)
  })

  test('of a client is not that client, if may_act names only the client', async () => {
    const { actor, attacker, exchange, originalClaims } = await setUpAttack(service)
    const token = await originalKey.sign(originalClaims({ sub: 'alice', may_act: { iss: issuer, client_id: client } }))
    const jwt = { subject_token_type: typeOf('jwt'), scope: 'api' }
    expect((await exchange(token, { ...jwt, ...attacker })).failure).toBe('plugin:token-exchange:may_not_act')
    expect((await exchange(token, { ...jwt, ...actor })).status).toBe(200)
    expect((await exchange(token, jwt)).status).toBe(200)
  })
})

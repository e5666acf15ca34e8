import { type AtomicDriver, defineGrant, OAuthError, type RevocationTarget } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { api1, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { rounds } from '../support/rounds.ts'
import { testGrant } from '../support/test-grant.ts'

/** A slow driver; `reaches` resolves when this many further operations have begun. */
function counting(prepare: CommitPath['prepare']) {
  let left = 0
  let reached = (): void => {}
  const storage: AtomicDriver = new Proxy(withLatency(prepare(memoryDriver())), {
    get(driver, name) {
      left -= 1
      if (left === 0) reached()
      return Reflect.get(driver, name)
    },
  })
  const reaches = (operations: number): Promise<void> =>
    new Promise((resolve) => {
      left = operations
      reached = resolve
    })
  return { storage, reaches }
}

/**
 * Attack: an attacker redeems a stolen code, or refreshes, at the same instant as all of the user's tokens are revoked.
 * Whichever of the two the store sees first, no token of the attacker may work after the revocation has returned. Two
 * servers share the store; the revocation begins at another operation of the store each time, so that it overlaps with
 * every step.
 */
test.concurrent.each(
  commitPaths.flatMap((path) =>
    (
      [
        ['reference', web, { subject: '1' }],
        ['JWT', webJwt, { subject: '1' }],
        ['reference', web, { clientId: 'web' }],
        ['JWT', webJwt, { clientId: 'web-jwt' }],
      ] as const
    ).map(([format, as, target]) => ({ format, as, target, ...path })),
  ),
)(
  'a token ($format), committed $path, that is issued while $target is revoked is revoked from the start',
  async ({ as, target, prepare }) => {
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'offline_access api1' }
    let raced = 0
    const race = async (operations: number) => {
      const { storage, reaches } = counting(prepare)
      const [f, otherProcess] = [await fixture({ storage }), await fixture({ storage })]
      // The second login knows a revision, with which its records skip the reads of family and epochs.
      await f.post('token', form, as)
      const { refresh_token: token } = (await f.post('token', form, as)).body
      const code = await f.code({ clientId: as[0] })
      const begins = reaches(operations)
      const racing = Promise.all([
        otherProcess.post('token', { grant_type: 'refresh_token', refresh_token: token }, as),
        otherProcess.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, as),
      ])
      await Promise.race([begins, racing])
      await f.provider.revoke(target)
      const responses = await racing
      for (const { status, body } of responses) {
        if (status !== 200) continue
        raced += 1
        expect((await f.post('introspection', { token: body.access_token }, api1)).body).toEqual({ active: false })
        const again = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
        expect((await f.post('token', again, as)).status).toBe(400)
      }
      // A login right after it yields valid tokens.
      const { body: fresh } = await otherProcess.post('token', form, as)
      expect((await f.post('introspection', { token: fresh.access_token }, api1)).body.active).toBe(true)
    }
    await Promise.all(rounds().flatMap(() => [3, 5, 6, 7, 8, 9, 12].map(race)))
    // Otherwise the two never overlapped.
    expect(raced).toBeGreaterThan(0)
  },
)

/**
 * Attack: a stolen access token is exchanged by a grant of the host that read it just before the revocation and returns
 * just after.
 */
test.each([[{ subject: '1' }], [{ clientId: testClient[0] }]] as const)(
  'a token issued in an exchange while %j is revoked is revoked from the start',
  async (target: RevocationTarget) => {
    let revoke = async (): Promise<void> => {}
    const badge = testGrant({
      grantType: 'urn:example:badge',
      handle: ({ scopes }) => ({ subject: { sub: '1', amr: ['badge'] }, scopes }),
    })
    const exchange = defineGrant({
      grantType: 'urn:example:exchange',
      params: v.object({ subject_token: v.string() }),
      async handle({ params, scopes }, kit) {
        const claims = (await kit.validateToken(params.subject_token, 'access_token'))?.claims
        if (typeof claims?.sub !== 'string')
          throw new OAuthError('invalid_grant', 'No', { reason: 'plugin:exchange:no' })
        await revoke()
        return { subject: { sub: claims.sub, amr: ['exchange'] }, scopes }
      },
    })
    const f = await createTestProvider({ plugins: [badge, exchange] })
    const isActive = async (token: string) => (await f.post('introspection', { token }, api1)).body.active
    const badged = async () =>
      (await f.post('token', { grant_type: badge.grantType, scope: 'api1 offline_access' }, testClient)).body
    const exchanged = async (token: string) =>
      (
        await f.post(
          'token',
          { grant_type: exchange.grantType, scope: 'api1 offline_access', subject_token: token },
          testClient,
        )
      ).body
    for (let round = 0; round < 2; round += 1) {
      const { access_token: stolen } = await badged()
      revoke = () => f.provider.revoke(target)
      const { access_token: escaped } = await exchanged(stolen)
      expect([await isActive(stolen), await isActive(escaped)]).toEqual([false, false])
      revoke = async () => {}
      // Tokens issued afterwards work, and can be exchanged.
      const { access_token: fresh } = await badged()
      expect(await isActive((await exchanged(fresh)).access_token)).toBe(true)
    }
  },
)

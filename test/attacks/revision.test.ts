/**
 * Attack: a revoked token is kept alive by the revision, which lets validation skip the records of revocations. The
 * attacker times a request so that it reads the old epoch and the new revision, hopes that a revocation stops halfway,
 * or waits until the revision is lost or damaged.
 *
 * docs/decisions/0041: a token that carries the current revision was issued after the last revocation.
 */
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, webJwt } from '../support/fixture.ts'
import { dead, issueTokens, judged, live, refresh } from '../support/revocation.ts'

/** A store that reports its reads and can hold up or fail the operations on the revision. */
function watched() {
  const items = new Map<string, string>()
  const driver = mapDriver(items)
  const reads: string[] = []
  const revision = {
    held: undefined as Promise<void> | undefined,
    fails: false,
    /** The number of writes that succeed before the others fail. */
    failsAfter: Number.POSITIVE_INFINITY,
  }
  const storage: AtomicDriver = {
    ...driver,
    async getItem(key) {
      reads.push(key.slice(0, key.indexOf(':')))
      if (key.startsWith('revision:')) await revision.held
      return driver.getItem(key)
    },
    setItem(key, value, options) {
      if (key.startsWith('revision:')) revision.failsAfter -= 1
      if (key.startsWith('revision:') && (revision.fails || revision.failsAfter < 0)) throw new Error('connection lost')
      return driver.setItem(key, value, options)
    },
  }
  const revisionKey = (): string => [...items.keys()].find((key) => key.startsWith('revision:')) ?? ''
  return { items, storage, reads, revision, revisionKey }
}

/** A provider that knows the revision. */
async function started() {
  const store = watched()
  const f = await fixture({ storage: store.storage })
  await issueTokens(f)
  return { f, ...store }
}

async function readsOf(f: Fixture, reads: string[], token: string): Promise<readonly string[]> {
  reads.length = 0
  await f.get('userinfo', {}, { authorization: `Bearer ${token}` })
  return [...reads].sort()
}

describe('a revision', () => {
  test('saves the reads of family and epochs until something is revoked', async () => {
    const { f, reads } = await started()
    const { access_token: token, refresh_token: refreshToken } = await issueTokens(f)
    expect(await readsOf(f, reads, token)).toEqual(['access', 'revision'])
    const { body: refreshed } = await refresh(f, refreshToken)
    expect(await readsOf(f, reads, refreshed.access_token)).toEqual(['access', 'revision'])
    await f.provider.revoke({ subject: 'someone else' })
    expect(await readsOf(f, reads, token)).toEqual(['access', 'epoch', 'epoch', 'revision', 'revoked'])
    expect(await judged(f, token)).toEqual(live)
  })

  test('that is read after the epochs does not hide the revocation in between', async () => {
    const { f, storage, revision } = await started()
    // Another process: one in this process would check the password again.
    const elsewhere = await fixture({ storage, runtime: { now: f.clock.now } })
    let release = (): void => {}
    revision.held = new Promise((resolve) => {
      release = resolve
    })
    const issuing = issueTokens(f)
    // The epochs are read when this resolves; the revision is not.
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    await elsewhere.provider.revoke({ subject: '1' })
    release()
    const tokens = await issuing
    revision.held = undefined
    expect(await judged(f, tokens.access_token)).toEqual(dead)
    expect((await refresh(f, tokens.refresh_token)).status).toBe(400)
  })

  test('that could not be replaced fails the revocation, which then works when it is repeated', async () => {
    const { f, revision } = await started()
    const targets = [{ subject: '1' }, { clientId: 'web' }] as const
    for (const target of targets) {
      const { access_token: token } = await issueTokens(f)
      revision.fails = true
      await expect(f.provider.revoke(target)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
      revision.fails = false
      await f.provider.revoke(target)
      expect(await judged(f, token)).toEqual(dead)
    }
  })

  test.each([
    ['current', false],
    ['outdated', true],
  ])(
    'that could not be replaced on a replay of a token with a %s one is replaced by the next',
    async (_which, outdated) => {
      const { f, revision } = await started()
      const { refresh_token: stolen } = await issueTokens(f)
      if (outdated) await f.provider.revoke({ subject: 'someone else' })
      const { body: second } = await refresh(f, stolen)
      const { body: third } = await refresh(f, second.refresh_token)
      revision.fails = true
      expect((await refresh(f, stolen)).status).toBe(503)
      revision.fails = false
      expect((await refresh(f, stolen)).status).toBe(400)
      expect(await judged(f, third.access_token)).toEqual(dead)
      expect((await refresh(f, third.refresh_token)).status).toBe(400)
    },
  )

  test('whose second replacement fails ends all tokens of the family that were issued before', async () => {
    const { f, revision } = await started()
    const { refresh_token: stolen } = await issueTokens(f, webJwt)
    const { body } = await refresh(f, stolen, webJwt)
    f.clock.advance(60)
    revision.failsAfter = 1
    expect((await refresh(f, stolen, webJwt)).status).toBe(503)
    revision.failsAfter = Number.POSITIVE_INFINITY
    expect(await judged(f, body.access_token)).toEqual(dead)
    expect((await refresh(f, body.refresh_token, webJwt)).status).toBe(400)
  })

  test.each([
    ['is lost', (items: Map<string, string>, key: string) => void items.delete(key)],
    ['is damaged', (items: Map<string, string>, key: string) => void items.set(key, '{"version":1,')],
    [
      'is empty',
      (items: Map<string, string>, key: string) =>
        void items.set(key, items.get(key)?.replace(/"revision":"[^"]+"/u, '"revision":""') ?? ''),
    ],
    [
      'is not text',
      (items: Map<string, string>, key: string) =>
        void items.set(key, items.get(key)?.replace(/"revision":"[^"]+"/u, '"revision":7') ?? ''),
    ],
  ])('that %s revives no token and ends none', async (_how, damage) => {
    const { f, items, revisionKey } = await started()
    const revoked = await issueTokens(f)
    await f.provider.revoke({ subject: '1' })
    const valid = await issueTokens(f)
    damage(items, revisionKey())
    for (let round = 0; round < 3; round += 1) {
      expect(await judged(f, revoked.access_token)).toEqual(dead)
      expect(await judged(f, valid.access_token)).toEqual(live)
      // Creates the revision again.
      const later = await issueTokens(f)
      expect(await judged(f, later.access_token)).toEqual(live)
    }
    expect((await refresh(f, revoked.refresh_token)).status).toBe(400)
    expect((await refresh(f, valid.refresh_token)).status).toBe(200)
    // A token that was issued meanwhile, and is revoked, stays so when the damage repeats itself.
    damage(items, revisionKey())
    await issueTokens(f)
    const meanwhile = await issueTokens(f)
    await f.provider.revoke({ subject: '1' })
    damage(items, revisionKey())
    expect(await judged(f, meanwhile.access_token)).toEqual(dead)
  })

  test('of one issuer does not change with the revocations of another on the same store', async () => {
    const { f, storage, reads } = await started()
    const { access_token: token } = await issueTokens(f)
    const otherIssuer = await fixture({ storage, issuer: 'https://other.example.com' })
    await otherIssuer.provider.revoke({ subject: '1' })
    expect(await readsOf(f, reads, token)).toEqual(['access', 'revision'])
  })
})

// A retry of a spent refresh token races with the redemption of its successor. Whichever is first, the chain has one
// branch: the retry gets the tokens of the first response, or it is a replay and the family is revoked.
import { type RunningServer, serve } from '@grantry/adapters/node'
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic, mapDriver, sha256Of } from '@grantry/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { api1, fixture, web } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { issueTokens, refresh } from '../support/revocation.ts'
import { rounds } from '../support/rounds.ts'
import { differentTokens, withoutSignatures } from '../support/same-tokens.ts'

const running: RunningServer[] = []
afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)))
})

/** Two providers that share only a slow store, as two processes would, behind real sockets. */
async function served({ prepare }: CommitPath) {
  const driver = memoryDriver()
  const storage = withLatency(prepare(driver))
  const f = await fixture({ storage })
  const servers = await Promise.all([
    serve(f.provider),
    serve((await fixture({ storage, runtime: { now: f.clock.now } })).provider),
  ])
  running.push(...servers)
  let next = 0
  async function post(path: string, form: Record<string, string>, as = web) {
    next += 1
    const url = `http://127.0.0.1:${servers[next % servers.length]?.port}/connect/${path}`
    const headers = { authorization: basic(as) }
    const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
    return { status: response.status, body: await response.json() }
  }
  return {
    f,
    refresh: (token: string) => post('token', { grant_type: 'refresh_token', refresh_token: token }),
    isActive: async (token: string): Promise<boolean> => (await post('introspect', { token }, api1)).body.active,
    count: async (kind: string) => (await driver.getKeys('', {})).filter((key) => key.startsWith(`${kind}:`)).length,
  }
}

describe.concurrent.each(commitPaths)(
  'concurrent retries of a token and redemptions of its successor, committed $path',
  (path) => {
    test.each([
      { retries: 25, redemptions: 25, least: 1 },
      { retries: 49, redemptions: 1, least: 1 },
      { retries: 1, redemptions: 49, least: 1 },
      { retries: 1, redemptions: 1, least: 3 },
    ])(
      '3.40 never fork the chain: $retries and $redemptions',
      async ({ retries, redemptions, least }) => {
        const { f, ...slow } = await served(path)
        for (let round = 0; round < Math.max(least, rounds().length); round += 1) {
          const first = await issueTokens(f)
          const before = await slow.count('refresh')
          const second = await slow.refresh(first.refresh_token)
          expect(second.status).toBe(200)
          const send = (times: number, token: string) =>
            Promise.all(Array.from({ length: times }, () => slow.refresh(token)))
          const [retried, redeemed] = await Promise.all([
            send(retries, first.refresh_token),
            send(redemptions, second.body.refresh_token),
          ])
          const tokensOf = (responses: typeof retried) =>
            differentTokens(responses.filter(({ status }) => status === 200))
          for (const { status, body } of [...retried, ...redeemed].filter((response) => response.status !== 200)) {
            expect([status, body.error]).toEqual([400, 'invalid_grant'])
          }
          // Retries get the tokens of the first response; redemptions get one successor.
          const [original] = differentTokens([second])
          expect(tokensOf(retried).filter((tokens) => tokens !== original)).toEqual([])
          const [third = '{}', ...others] = tokensOf(redeemed)
          expect(others).toEqual([])
          expect(await slow.count('refresh')).toBe(before + 2)
          // A rejected retry has revoked the family, including the newest tokens; otherwise it stays valid.
          const isAlive = retried.every(({ status }) => status === 200)
          const newest = JSON.parse(third)
          expect(await slow.isActive(newest.access_token)).toBe(isAlive)
          expect((await slow.refresh(newest.refresh_token)).status).toBe(isAlive ? 200 : 400)
        }
      },
      240_000,
    )
  },
)

/** A store that holds one operation on one key, before or after it acts, until it is released. */
function holdingDriver({ prepare }: CommitPath) {
  const driver = prepare(mapDriver(new Map()))
  const { commit } = driver
  let held: { operation: string; reached: () => void; released: Promise<void> } | undefined
  async function pass<T>(operation: string, act: () => T): Promise<Awaited<T>> {
    const pause = async (moment: string): Promise<void> => {
      if (held?.operation !== `${moment} ${operation}`) return
      const { reached, released } = held
      held = undefined
      reached()
      await released
    }
    await pause('before')
    const result = await act()
    await pause('after')
    return result
  }
  const storage: AtomicDriver = {
    ...driver,
    getItem: (key) => pass(`getItem ${key}`, () => driver.getItem(key)),
    insertItem: (key, value, options) => pass(`spend ${key}`, () => driver.insertItem(key, value, options)),
    ...(commit !== undefined && {
      commit: (changes) => pass(`spend ${changes.create[0]?.key}`, () => commit(changes)),
    }),
  }
  /** Resolves when the next such operation is held; `release` lets it continue. */
  function hold(operation: string) {
    let reached = (): void => undefined
    let release = (): void => undefined
    const isHeld = new Promise<void>((resolve) => {
      reached = resolve
    })
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    held = { operation, reached, released }
    return { isHeld, release: () => release() }
  }
  return { storage, hold }
}

async function held(path: CommitPath) {
  const { storage, hold } = holdingDriver(path)
  const f = await fixture({ storage })
  const first = await issueTokens(f)
  const second = (await refresh(f, first.refresh_token)).body
  const marker = `spent:refresh:${Buffer.from(sha256Of(second.refresh_token), 'base64').toString('hex')}`
  const isActive = async (token: string): Promise<boolean> =>
    (await f.post('introspection', { token }, api1)).body.active
  return { f, first, second, marker, hold, isActive }
}

describe.each(commitPaths)('a retry that is overtaken by a commit $path', (path) => {
  test('3.40 after it has seen the successor unspent: it gets the first tokens again, and the chain stays valid', async () => {
    const { f, first, second, marker, hold } = await held(path)
    const { isHeld, release } = hold(`after getItem ${marker}`)
    const retry = refresh(f, first.refresh_token)
    await isHeld
    const third = await refresh(f, second.refresh_token)
    release()
    expect(withoutSignatures((await retry).body)).toEqual(withoutSignatures(second))
    expect(differentTokens([third, await refresh(f, second.refresh_token)])).toHaveLength(1)
    expect((await refresh(f, third.body.refresh_token)).status).toBe(200)
  })

  test('3.40 before it has read the successor: it is a replay, and the family is revoked', async () => {
    const { f, first, second, marker, hold, isActive } = await held(path)
    const { isHeld, release } = hold(`before getItem ${marker}`)
    const retry = refresh(f, first.refresh_token)
    await isHeld
    const third = (await refresh(f, second.refresh_token)).body
    release()
    expect((await retry).body.error).toBe('invalid_grant')
    expect(await isActive(third.access_token)).toBe(false)
    expect((await refresh(f, third.refresh_token)).status).toBe(400)
  })
})

describe.each(commitPaths)('a redemption of the successor, committed $path, that is overtaken', (path) => {
  test('3.40 before it has spent the successor: the retry gets its tokens, and the redemption succeeds', async () => {
    const { f, first, second, marker, hold } = await held(path)
    const { isHeld, release } = hold(`before spend ${marker}`)
    const redemption = refresh(f, second.refresh_token)
    await isHeld
    expect(withoutSignatures((await refresh(f, first.refresh_token)).body)).toEqual(withoutSignatures(second))
    release()
    const third = await redemption
    expect(third.status).toBe(200)
    expect((await refresh(f, third.body.refresh_token)).status).toBe(200)
  })

  test('3.40 after it has spent the successor: the retry is a replay, and the tokens of the redemption are revoked', async () => {
    const { f, first, second, marker, hold, isActive } = await held(path)
    const { isHeld, release } = hold(`after spend ${marker}`)
    const redemption = refresh(f, second.refresh_token)
    await isHeld
    expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
    release()
    const third = (await redemption).body
    expect(await isActive(third.access_token)).toBe(false)
    expect((await refresh(f, third.refresh_token)).body.error).toBe('invalid_grant')
  })
})

// A store that fails: before it acts, or after it has acted, so that only its response is lost. In any case one
// credential never yields two sets of tokens.
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'
import { type CommitPath, commitPaths, inOrder, withLatency } from '../support/latency.ts'
import { differentTokens } from '../support/same-tokens.ts'

type When = 'before' | 'after'

/** Fails the next operation of each name (`insert spent`), before or after it acts. */
function breakable(driver: AtomicDriver) {
  const faults = new Map<string, When>()
  async function run<T>(operation: string, key: string, act: () => T): Promise<Awaited<T>> {
    const name = `${operation} ${key.split(':')[0]}`
    const fault = faults.get(name)
    faults.delete(name)
    if (fault === 'before') throw new Error(`connection lost at 10.0.0.7 (${key})`)
    const result = await act()
    if (fault === 'after') throw new Error(`connection lost at 10.0.0.7 (${key})`)
    return result
  }
  const { commit } = driver
  const storage: AtomicDriver = {
    name: 'breakable',
    getItem: (key) => run('get', key, () => driver.getItem(key)),
    setItem: (key, value, options) => run('set', key, () => driver.setItem?.(key, value, options)),
    removeItem: (key, options) => run('remove', key, () => driver.removeItem?.(key, options)),
    insertItem: (key, value, options) => run('insert', key, () => driver.insertItem(key, value, options)),
    incrementItem: (key, options) => run('increment', key, () => driver.incrementItem(key, options)),
    replaceItem: (key, change) => run('replace', key, () => driver.replaceItem(key, change)),
    ...(commit !== undefined && {
      commit: (changes) => run('commit', changes.create[0]?.key ?? '', () => commit(changes)),
    }),
  }
  return { faults, storage }
}

async function started({ prepare }: CommitPath, driver: AtomicDriver = mapDriver()) {
  const { faults, storage } = breakable(prepare(driver))
  const f = await fixture({ storage })
  return { f, faults }
}

const redeem = (f: Fixture, code: string) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)

const refresh = (f: Fixture, token: string) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

type ReceivedResponse = Awaited<ReturnType<typeof redeem>>

function expectOutage({ status, headers, body }: ReceivedResponse): void {
  expect(status).toBe(503)
  expect(body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) })
  expect(JSON.stringify(body)).not.toMatch(/10\.0\.0\.7|connection/u)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

const successes = (responses: readonly ReceivedResponse[]) => responses.filter(({ status }) => status === 200)

type Step = readonly [operation: string, when: When]

/** Where a redemption can fail before the credential is spent. */
const stepsBefore = ({ path }: CommitPath): readonly Step[] => [
  ['get spent', 'before'],
  ['get revision', 'before'],
  ...(path === 'atomic'
    ? ([['commit spent', 'before']] as const)
    : ([
        ['set access', 'before'],
        ['set access', 'after'],
        ['set refresh', 'before'],
        ['set refresh', 'after'],
        ['insert spent', 'before'],
      ] as const)),
]

const spendingOf = ({ path }: CommitPath): string => (path === 'atomic' ? 'commit spent' : 'insert spent')

describe.each(commitPaths)('a code, when the store fails and commits $path', (path) => {
  test.each<Step>([['get code', 'before'], ['get revoked', 'before'], ...stepsBefore(path)])(
    '3.32 at "%s", %s it acts: 503, nothing is spent, and a retry succeeds once',
    async (operation, when) => {
      const { f, faults } = await started(path)
      const code = await f.code()
      // The code carries an older revision, so its family is read.
      await f.provider.revoke({ subject: 'someone else' })
      faults.set(operation, when)
      expectOutage(await redeem(f, code))
      expect(faults.size).toBe(0)
      const retry = await redeem(f, code)
      expect(retry.status).toBe(200)
      expect(await isActive(f, retry.body.access_token)).toBe(true)
      expect((await redeem(f, code)).body.error).toBe('invalid_grant')
    },
  )

  test('3.32 after the marker was set: 503, and a retry is rejected instead of succeeding twice', async () => {
    const { f, faults } = await started(path)
    const code = await f.code()
    faults.set(spendingOf(path), 'after')
    expectOutage(await redeem(f, code))
    for (const response of [await redeem(f, code), await redeem(f, code)]) {
      expect(response.status).toBe(400)
      expect(response.body.error).toBe('invalid_grant')
    }
  })

  test('3.33 while it revokes: 503, and the next replay revokes', async () => {
    const { f, faults } = await started(path)
    const code = await f.code()
    const { body } = await redeem(f, code)
    faults.set('insert revoked', 'before')
    expectOutage(await redeem(f, code))
    expect((await redeem(f, code)).body.error).toBe('invalid_grant')
    expect(await isActive(f, body.access_token)).toBe(false)
  })
})

describe.each(commitPaths)('a refresh token, when the store fails and commits $path', (path) => {
  async function withRefreshToken(driver?: AtomicDriver) {
    const { f, faults } = await started(path, driver)
    const { body } = await redeem(f, await f.code())
    return { f, faults, token: body.refresh_token as string }
  }

  test.each<Step>([
    ['get refresh', 'before'],
    ...(path.path === 'in order'
      ? ([
          ['set replay', 'before'],
          ['set replay', 'after'],
        ] as const)
      : []),
    ...stepsBefore(path),
  ])('3.40 at "%s", %s it acts: 503, nothing is spent, and retries get one successor', async (operation, when) => {
    const { f, faults, token } = await withRefreshToken()
    faults.set(operation, when)
    expectOutage(await refresh(f, token))
    expect(faults.size).toBe(0)
    const responses = [await refresh(f, token), await refresh(f, token)]
    expect(successes(responses)).toHaveLength(2)
    expect(differentTokens(responses)).toHaveLength(1)
    expect(await isActive(f, responses[0]?.body.access_token)).toBe(true)
  })

  test('3.40 after the marker was set: 503, and retries get the one existing successor', async () => {
    const { f, faults, token } = await withRefreshToken()
    faults.set(spendingOf(path), 'after')
    expectOutage(await refresh(f, token))
    const responses = [await refresh(f, token), await refresh(f, token)]
    expect(successes(responses)).toHaveLength(2)
    expect(differentTokens(responses)).toHaveLength(1)
    expect((await refresh(f, responses[0]?.body.refresh_token)).status).toBe(200)
  })

  test('3.39 after the marker was set: past the window a retry is rejected', async () => {
    const { f, faults, token } = await withRefreshToken()
    faults.set(spendingOf(path), 'after')
    expectOutage(await refresh(f, token))
    f.clock.advance(10)
    const response = await refresh(f, token)
    expect(response.status).toBe(400)
    expect(response.body.error).toBe('invalid_grant')
  })

  test('3.40 of 50 concurrent ones, the response to the winner is lost: the others get the one successor', async () => {
    const driver = withLatency(path.prepare(mapDriver()))
    const { commit } = driver
    const lost = (): never => {
      throw new Error('the answer is lost')
    }
    const forgetful: AtomicDriver = {
      ...driver,
      async insertItem(key, value, options) {
        const created = await driver.insertItem(key, value, options)
        return created && key.startsWith('spent:refresh') ? lost() : created
      },
      ...(commit !== undefined && {
        async commit(changes) {
          const outcome = await commit(changes)
          return outcome === true && changes.create[0]?.key.startsWith('spent:refresh') ? lost() : outcome
        },
      }),
    }
    const f = await fixture({ storage: forgetful })
    const { body } = await redeem(f, await f.code())
    const responses = await Promise.all(Array.from({ length: 50 }, () => refresh(f, body.refresh_token)))
    expect(responses.filter(({ status }) => status === 503)).toHaveLength(1)
    expect(successes(responses)).toHaveLength(49)
    expect(differentTokens(successes(responses))).toHaveLength(1)
    expect(await isActive(f, successes(responses)[0]?.body.access_token)).toBe(true)
  })

  test('3.39 while it revokes: 503, and the next replay revokes', async () => {
    const { f, faults, token } = await withRefreshToken()
    const { body } = await refresh(f, token)
    f.clock.advance(10)
    faults.set('insert revoked', 'before')
    expectOutage(await refresh(f, token))
    expect((await refresh(f, token)).body.error).toBe('invalid_grant')
    expect((await refresh(f, body.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('an error that a driver returns instead of throwing is an outage too, not a missing token', async () => {
    const driver = mapDriver()
    let broken = false
    const f = await fixture({
      storage: { ...driver, getItem: (key) => (broken ? new Error('EIO') : driver.getItem(key)) },
    })
    const { body } = await redeem(f, await f.code())
    broken = true
    expectOutage(await refresh(f, body.refresh_token))
    broken = false
    expect((await refresh(f, body.refresh_token)).status).toBe(200)
  })
})

describe('when the store fails', () => {
  const inOrderPath: CommitPath = { path: 'in order', prepare: inOrder }

  test('3.32 while a loser cleans up: still only one success', async () => {
    const { f, faults } = await started(inOrderPath, withLatency(mapDriver()))
    const code = await f.code()
    faults.set('remove access', 'before')
    faults.set('remove refresh', 'before')
    const responses = await Promise.all(Array.from({ length: 20 }, () => redeem(f, code)))
    expect(successes(responses)).toHaveLength(1)
    expect(faults.size).toBe(0)
    for (const { status } of responses) expect([200, 400, 503]).toContain(status)
  })

  test('3.40 while a loser cleans up: still one successor', async () => {
    const { f, faults } = await started(inOrderPath, withLatency(mapDriver()))
    const { body: first } = await redeem(f, await f.code())
    for (const kind of ['access', 'refresh', 'replay']) faults.set(`remove ${kind}`, 'before')
    const responses = await Promise.all(Array.from({ length: 20 }, () => refresh(f, first.refresh_token)))
    expect(faults.size).toBe(0)
    expect(successes(responses).length).toBeGreaterThanOrEqual(1)
    expect(differentTokens(successes(responses))).toHaveLength(1)
    for (const { status } of responses) expect([200, 503]).toContain(status)
  })
})

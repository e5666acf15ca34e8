// A driver that reads several items in one call may lose one of them: it skips what it cannot read, returns an error
// instead of a value, or confuses the order. A marker that forbids something must not count as absent then: a spent
// refresh token or a revoked access token would be accepted again.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { inOneTrip } from '../support/latency.ts'
import { issueTokens, judged, live, refresh } from '../support/revocation.ts'

type Items = readonly { readonly key: string; readonly value: unknown }[]

/** A provider whose storage returns the items after a change, once `state.change` is set. */
async function started() {
  const state: { change: ((items: Items) => unknown) | undefined; trips: (readonly string[])[] } = {
    change: undefined,
    trips: [],
  }
  const good = inOneTrip(memoryDriver())
  const storage: AtomicDriver = {
    ...good,
    async getItems(wanted) {
      state.trips.push(wanted.map(({ key }) => key.slice(0, key.indexOf(':'))).sort())
      const items = (await good.getItems?.(wanted)) ?? []
      return (state.change === undefined ? items : state.change(items)) as Items
    },
  }
  const f = await fixture({ storage })
  // The first token of a process makes the revision known.
  await issueTokens(f)
  return { f, state }
}

const isMarker = ({ key }: { readonly key: string }): boolean => /^(?:spent|revoked|epoch|revision):/u.test(key)
const changed = (change: (item: Items[number]) => unknown) => (items: Items) =>
  items.map((item) => (isMarker(item) ? change(item) : item))

const faults: readonly [string, (items: Items) => unknown][] = [
  ['omits markers', (items) => items.filter((item) => !isMarker(item))],
  ['returns null instead of a marker', changed(() => null)],
  ['returns a marker without a value', changed(({ key }) => ({ key }))],
  ['returns an error as the value of a marker', changed(({ key }) => ({ key, value: new Error('EIO') }))],
  ['returns a promise as the value of a marker', changed(({ key, value }) => ({ key, value: Promise.resolve(value) }))],
  ['returns another key for a marker', changed(({ key }) => ({ key: `${key}0`, value: null }))],
  [
    'returns another item twice',
    (items) => items.map(() => items.find((item) => !isMarker(item)) ?? { key: '', value: null }),
  ],
  ['returns nothing', () => null],
  ['returns an error', () => new Error('EIO')],
  [
    'throws',
    () => {
      throw new Error('EIO')
    },
  ],
]

describe.each(faults)('a driver that %s', (_what, change) => {
  test('revives no spent refresh token', async () => {
    const { f, state } = await started()
    const { refresh_token: token } = await issueTokens(f)
    expect((await refresh(f, token)).status).toBe(200)
    state.change = change
    const { status, body, headers } = await refresh(f, token)
    expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'temporarily_unavailable', '1'])
    expect(JSON.stringify(body)).not.toContain('EIO')
  })

  test('revives no revoked access token', async () => {
    const { f, state } = await started()
    const { access_token: token } = await issueTokens(f)
    expect(await judged(f, token)).toEqual(live)
    await f.provider.revoke({ subject: '1' })
    state.change = change
    expect(await judged(f, token)).toEqual({ introspection: 503, accessTokenValidation: 503, userinfo: 503 })
    state.change = undefined
    expect((await judged(f, token)).introspection).toBe(false)
  })

  test('issues no token that a revocation does not reach', async () => {
    const { f, state } = await started()
    state.change = change
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
    expect((await f.post('token', form, ['web', 'web-secret'])).status).toBe(503)
  })
})

test('the records of a check are read in one trip, in any order of the results', async () => {
  const { f, state } = await started()
  const tokens = await issueTokens(f)
  state.change = (items) => [...items].reverse()
  state.trips = []
  expect(await judged(f, tokens.access_token)).toEqual(live)
  expect(state.trips).toEqual([
    ['access', 'revision'],
    ['access', 'revision'],
    ['access', 'revision'],
  ])
  await f.provider.revoke({ family: 'other' })
  state.trips = []
  expect((await refresh(f, tokens.refresh_token)).status).toBe(200)
  expect(state.trips).toEqual([
    ['refresh', 'revision', 'spent'],
    ['epoch', 'epoch', 'revoked'],
  ])
})

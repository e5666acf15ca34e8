// The audit trail by page, with filters.
import type { Json } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { batch, setting } from './setting.ts'

type Item = { readonly action: string; readonly id: string; readonly time: string }

/** Two clients, a scope and a user, each added a minute after the other, by two administrators in turn. */
async function service() {
  const f = await setting()
  const alice = await f.tokenOf('ops', 'admin', 'alice')
  const add = async (path: string, body: object, token?: string) => {
    expect((await f.send('POST', path, { body, ...(token !== undefined && { token }) })).status).toBe(201)
    f.clock.advance(60)
  }
  await add('/clients', { ...batch, clientId: 'one' })
  await add('/scopes', { name: 'two' }, alice)
  await add('/users', { sub: 'three', username: 'three' })
  await add('/clients', { ...batch, clientId: 'four' }, alice)
  const idsFor = async (query: string) => (await f.send('GET', `/audit${query}`)).body.items.map(({ id }: Item) => id)
  const timeOf = async (id: string): Promise<string> =>
    (await f.send('GET', '/audit')).body.items.find((item: Item) => item.id === id)?.time
  return { ...f, idsFor, timeOf }
}

describe('the audit trail', () => {
  test.each([
    ['', ['four', 'three', 'two', 'one']],
    ['?kind=client', ['four', 'one']],
    ['?kind=user', ['three']],
    ['?kind=key', []],
    ['?kind=tenant', []],
    ['?id=two', ['two']],
    ['?who=client%3Aops', ['three', 'one']],
    ['?who=client%3Aops%20user%3Aalice&kind=client', ['four']],
    ['?who=client', []],
  ])('with the filter %s', async (query, ids) => {
    const { idsFor } = await service()
    expect(await idsFor(query)).toEqual(ids)
  })

  test('of a time range includes both ends, in any zone', async () => {
    const { idsFor, timeOf } = await service()
    const [from, to] = [await timeOf('two'), await timeOf('three')]
    expect(await idsFor(`?since=${from}&until=${to}`)).toEqual(['three', 'two'])
    expect(await idsFor(`?since=${to}`)).toEqual(['four', 'three'])
    expect(await idsFor(`?until=${from}`)).toEqual(['two', 'one'])
    expect(await idsFor(`?since=${to}&until=${from}`)).toEqual([])
    expect(await idsFor('?since=0001-01-01T00:00:00Z&until=9999-12-31T00:00:00Z')).toHaveLength(4)
    const moved = new Date(Date.parse(from) + 7_200_000).toISOString().replace('Z', '+02:00')
    expect(await idsFor(`?until=${encodeURIComponent(moved)}&kind=scope`)).toEqual(['two'])
  })

  test('continues by the links, which keep the filter', async () => {
    const { send, timeOf } = await service()
    const ids: string[] = []
    let path: string | undefined = `/audit?limit=1&kind=client&since=${await timeOf('one')}`
    for (let pages = 0; path !== undefined && pages < 10; pages += 1) {
      const { body, headers } = await send('GET', path)
      ids.push(...body.items.map(({ id }: Item) => id))
      path = /<[^>]*\/admin\/v1([^>]*)>/u.exec(headers.get('link') ?? '')?.[1]
    }
    expect(ids).toEqual(['four', 'one'])
  })

  test('reads at most 1,000 changes for a page, which can be empty although another one follows', async () => {
    const { entries, send } = await service()
    // Older than the others: ids count down.
    const record = { time: '2020-01-01T00:00:00.000Z', who: 'x', action: 'user_added', outcome: 'done' } as const
    for (let index = 0; index < 1200; index += 1) {
      const value = { ...record, id: index === 1199 ? 'needle' : 'hay' } satisfies Json
      await entries.create('audit', `9999999999999-${String(index).padStart(6, '0')}-a`, value)
    }
    const first = await send('GET', '/audit?id=needle&limit=1')
    expect([first.body.items, first.body.next]).toEqual([[], expect.any(String)])
    const second = await send('GET', `/audit?id=needle&limit=1&after=${first.body.next}`)
    expect(second.body.items.map(({ id }: Item) => id)).toEqual(['needle'])
    expect(second.body.next).toBeUndefined()
  })

  test.each([
    ['kind=clients', 'kind'],
    ['since=yesterday', 'since'],
    ['since=2026-11-26', 'since'],
    ['until=2026-13-40T00:00:00Z', 'until'],
    ['what=x', 'what'],
  ])('refuses %s', async (query, member) => {
    const { send } = await setting()
    expect(await send('GET', `/audit?${query}`)).toMatchObject({ status: 400, body: { member } })
  })
})

// The removal of a scope that clients have.
import { expect, test } from 'vitest'
import { batch, setting } from './setting.ts'

async function service() {
  const f = await setting()
  const { headers } = await f.send('POST', '/scopes', { body: { name: 'orders' } })
  const added = await f.send('POST', '/clients', { body: { ...batch, scopes: ['api1', 'orders'] } })
  expect(added.status).toBe(201)
  const remove = (query: string, version = headers.get('etag') ?? '') =>
    f.send('DELETE', `/scopes/orders${query}`, { headers: { 'if-match': version } })
  const left = async () => [
    (await f.send('GET', '/scopes/orders')).status,
    (await f.send('GET', '/clients/batch')).body.scopes,
  ]
  return { ...f, remove, left }
}

test.each(['', '?force=false'])('a scope that a client has is not removed by %j', async (query) => {
  const { remove, left, trail } = await service()
  const before = await trail()
  const { status, body } = await remove(query)
  expect([status, body.detail]).toEqual([409, expect.stringContaining('batch')])
  expect(await left()).toEqual([200, ['api1', 'orders']])
  expect(await trail()).toEqual(before)
})

test('with force, it is removed from the clients first, and the trail has both changes', async () => {
  const { remove, left, trail } = await service()
  expect((await remove('?force=true')).status).toBe(204)
  expect(await left()).toEqual([404, ['api1']])
  expect((await trail()).slice(0, 2)).toMatchObject([
    { action: 'scope_removed', id: 'orders', who: 'client:ops', outcome: 'done' },
    { id: 'batch', before: { scopes: ['api1', 'orders'] }, after: { scopes: ['api1'] }, who: 'client:ops' },
  ])
})

test('force does not skip the comparison of versions, and belongs to scopes', async () => {
  const { remove, left, send } = await service()
  expect((await remove('?force=true', '"x"')).status).toBe(412)
  expect((await send('DELETE', '/scopes/orders?force=true')).status).toBe(428)
  expect(await remove('?force=1')).toMatchObject({ status: 400, body: { member: 'force' } })
  expect(await send('DELETE', '/clients/batch?force=true', { headers: { 'if-match': '*' } })).toMatchObject({
    status: 400,
    body: { member: 'force' },
  })
  expect(await left()).toEqual([200, ['api1', 'orders']])
})

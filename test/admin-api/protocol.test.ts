import { describe, expect, test } from 'vitest'
import { batch, issuer, setting } from './setting.ts'

const form = { grant_type: 'client_credentials', scope: 'api1' }

describe('a version', () => {
  test.each([
    ['no header', undefined, 428],
    ['a text without quotes', 'x', 400],
    ['an open quote', '"x', 400],
    ['another version', '"x"', 412],
    ['other versions', '"x", "y"', 412],
    ['a weak validator', 'weak', 412],
    ['any version', '*', 200],
    ['one of several', 'list', 200],
  ])('in If-Match: %s', async (_, header, status) => {
    const { send, trail } = await setting()
    const etag = (await send('POST', '/clients', { body: batch })).headers.get('etag') ?? ''
    const value = header === 'weak' ? `W/${etag}` : header === 'list' ? `"x", ${etag}` : header
    const headers = value === undefined ? {} : { 'if-match': value }
    const patch = { body: { accessTokenLifetime: 60 }, headers }
    expect((await send('PATCH', '/clients/batch', patch)).status).toBe(status)
    expect(await trail()).toHaveLength(status === 200 ? 2 : 1)
    const present = await send('GET', '/clients/batch')
    expect(present.headers.get('etag') === etag).toBe(status !== 200)
  })

  test('belongs to one of two administrators who change a client at the same time', async () => {
    const { send } = await setting()
    const headers = { 'if-match': (await send('POST', '/clients', { body: batch })).headers.get('etag') ?? '' }
    const changes = [60, 61, 62].map((accessTokenLifetime) =>
      send('PATCH', '/clients/batch', { body: { accessTokenLifetime }, headers }),
    )
    const statuses = (await Promise.all(changes)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 412, 412])
  })

  test('never returns: not even that of an entry that was removed and added again', async () => {
    const { send } = await setting()
    const headers = { 'if-match': (await send('POST', '/clients', { body: batch })).headers.get('etag') ?? '' }
    expect((await send('DELETE', '/clients/batch', { headers })).status).toBe(204)
    await send('POST', '/clients', { body: batch })
    expect((await send('DELETE', '/clients/batch', { headers })).status).toBe(412)
  })
})

describe('a problem', () => {
  test.each([
    [{ clientId: 'x', scopes: ['unknown'] }, 400, undefined],
    [{ clientId: 'x', grantType: [] }, 400, 'grantType'],
    [{ clientId: 'x', redirectUris: ['javascript:x'] }, 400, 'redirectUris[0]'],
    [{ clientId: 'x', refreshToken: { usage: 'sometimes' } }, 400, 'refreshToken.usage'],
    [{ clientId: 1 }, 400, 'clientId'],
    [{}, 400, 'clientId'],
    [{ clientId: 'x', tags: 'a' }, 400, 'tags'],
    [{ clientId: 'x', version: 'a' }, 400, 'version'],
    [{ clientId: 'x', createdAt: '2020-01-01' }, 400, 'createdAt'],
    [{ clientId: 'x', secret: 'mine' }, 400, 'secret'],
    [{ clientId: 'x', secrets: [{ sha256: 'a' }] }, 400, 'secrets'],
    [{ clientId: 'web' }, 409, 'clientId'],
    [{ clientId: 'ops-in-storage' }, 409, undefined],
  ])('names the wrong member of %j', async (body, status, member) => {
    const { send, trail } = await setting()
    const refused = await send('POST', '/clients', { body })
    expect([refused.status, refused.body.member]).toEqual([status, member])
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(await trail()).toEqual([])
  })

  test.each([
    ['GET', '/nothing', 404, null],
    ['GET', '/clients/', 404, null],
    ['GET', '/clients/openapi.json', 404, null],
    ['PUT', '/clients', 405, 'GET, HEAD, POST'],
    ['POST', '/clients/batch', 405, 'GET, HEAD, PATCH, DELETE'],
    ['DELETE', '/clients/batch/rotate-secret', 405, 'POST'],
    ['OPTIONS', '/clients', 405, 'GET, POST, PUT, PATCH, DELETE, HEAD'],
    ['GET', '/clients?unknown=1', 400, null],
    ['GET', '/clients?limit=0', 400, null],
    ['GET', '/clients?limit=1001', 400, null],
    ['GET', '/clients?limit=1&limit=2', 400, null],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const { send } = await setting()
    const refused = await send(method, path, method === 'POST' || method === 'PUT' ? { body: {} } : {})
    expect([refused.status, refused.headers.get('allow'), refused.body.status]).toEqual([status, allow, status])
  })

  test('is returned for a body that is no JSON object, too large or of another type', async () => {
    const { send } = await setting()
    const statusOf = async (body: string, type = 'application/json') =>
      (await send('POST', '/clients', { body, headers: { 'content-type': type } })).status
    expect(await statusOf('{')).toBe(400)
    expect(await statusOf('[]')).toBe(400)
    expect(await statusOf(`{"clientId":"${'x'.repeat(70_000)}"}`)).toBe(413)
    expect(await statusOf('clientId=x', 'application/x-www-form-urlencoded')).toBe(415)
    expect((await send('GET', '/clients', { headers: { accept: 'text/html' } })).status).toBe(406)
    expect((await send('GET', '/clients', { headers: { accept: 'text/html, */*;q=0.1' } })).status).toBe(200)
  })
})

test('pages follow each other by their links, whatever the ids contain', async () => {
  const { send } = await setting()
  const ids = ['a b', 'a"b', 'a/b', 'a>b', 'a;b', 'b']
  for (const clientId of ids) {
    const { headers } = await send('POST', '/clients', { body: { clientId, tags: ['t'] } })
    expect((await send('GET', (headers.get('location') ?? '').slice(`${issuer}/admin/v1`.length))).body.clientId).toBe(
      clientId,
    )
  }
  const listedIds: string[] = []
  let path: string | undefined = '/clients?limit=2&prefix=a&tag=t&enabled=true'
  while (path !== undefined) {
    const { body, headers } = await send('GET', path)
    listedIds.push(...body.items.map(({ clientId }: { clientId: string }) => clientId))
    const url: string | undefined = /^<(.*)>; rel="next"$/u.exec(headers.get('link') ?? '')?.[1]
    expect(url === undefined).toBe(body.next === undefined)
    path = url?.slice(`${issuer}/admin/v1`.length)
  }
  expect(listedIds.sort()).toEqual(ids.slice(0, 5).sort())
})

describe('Idempotency-Key', () => {
  const headers = { 'idempotency-key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' }

  test('returns the first response again, with the secret, for a day', async () => {
    const { send, clock, post, trail } = await setting()
    const first = await send('POST', '/clients', { body: batch, headers })
    clock.advance(1000)
    const again = await send('POST', '/clients', { body: batch, headers })
    for (const name of ['location', 'etag']) expect(again.headers.get(name)).toBe(first.headers.get(name))
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await post('token', form, ['batch', again.body.secret])).status).toBe(200)
    expect(await trail()).toHaveLength(1)
    const otherResponse = await send('POST', '/clients', { body: { ...batch, clientId: 'other' }, headers })
    expect([otherResponse.status, otherResponse.body.title]).toEqual([422, 'Unprocessable Content'])
    const rotated = await send('POST', '/clients/batch/rotate-secret', { body: {}, headers })
    expect(rotated.status).toBe(422)
  })

  test('belongs to one caller, and a refused request leaves nothing', async () => {
    const { send, tokenOf } = await setting()
    expect((await send('POST', '/clients', { body: { ...batch, scopes: ['no'] }, headers })).status).toBe(400)
    expect((await send('POST', '/clients', { body: batch, headers })).status).toBe(201)
    const token = await tokenOf('ops', 'admin', 'alice')
    expect((await send('POST', '/clients', { body: batch, headers, token })).status).toBe(409)
  })

  test('lets one of several requests at the same time through', async () => {
    const { send, trail } = await setting()
    const all = await Promise.all(Array.from({ length: 5 }, () => send('POST', '/clients', { body: batch, headers })))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201, 409]))
    expect(await trail()).toHaveLength(1)
  })

  test('does not put the secret into the storage', async () => {
    const { memoryDriver } = await import('@grantry/storage-drivers/memory')
    const storage = memoryDriver()
    const written: string[] = []
    const { send } = await setting({
      storage: {
        ...storage,
        setItem: (key, value, options) => {
          written.push(value)
          return storage.setItem(key, value, options)
        },
      },
    })
    const { body } = await send('POST', '/clients', { body: batch, headers })
    expect(written.some((value) => value.includes('sealed'))).toBe(true)
    expect(written.join()).not.toContain(body.secret)
  })

  test.each(['', '"', 'a b', '"a', 'x'.repeat(201)])('cannot be %j', async (key) => {
    const { send } = await setting()
    expect((await send('POST', '/clients', { body: batch, headers: { 'idempotency-key': key } })).status).toBe(400)
  })
})

test('each administrator has a limit of requests per minute', async () => {
  const { send, clock, tokenOf } = await setting({ more: { requestsPerMinute: 3 } })
  for (let call = 0; call < 3; call += 1) expect((await send('GET', '/clients')).status).toBe(200)
  const refused = await send('GET', '/clients')
  expect([refused.status, refused.body.title]).toEqual([429, 'Too Many Requests'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await send('GET', '/clients', { token: await tokenOf('ops', 'admin', 'alice') })).status).toBe(200)
  clock.advance(60)
  expect((await send('GET', '/clients')).status).toBe(200)
})

test('a merge patch leaves the secrets as they are', async () => {
  const { send, post, clock } = await setting()
  const { body, headers } = await send('POST', '/clients', { body: batch })
  await send('PATCH', '/clients/batch', {
    body: { accessTokenLifetime: 60 },
    headers: { 'if-match': headers.get('etag') ?? '' },
  })
  clock.advance(5)
  expect((await post('token', form, ['batch', body.secret])).body.expires_in).toBe(60)
})

test('a secret is rotated with an overlap', async () => {
  const { send, post, clock } = await setting()
  const first = (await send('POST', '/clients', { body: batch })).body.secret
  const rotated = await send('POST', '/clients/batch/rotate-secret', { body: { overlap: 600 } })
  clock.advance(6)
  const statusWith = async (secret: string) => (await post('token', form, ['batch', secret])).status
  expect([await statusWith(first), await statusWith(rotated.body.secret)]).toEqual([200, 200])
  clock.advance(600)
  expect([await statusWith(first), await statusWith(rotated.body.secret)]).toEqual([401, 200])
})

test('a token in the URL beside that of the header is refused: its client must learn that it is in logs', async () => {
  const { send } = await setting()
  expect(await send('GET', '/clients?access_token=x')).toMatchObject({ status: 400 })
  expect(await send('GET', '/clients')).toMatchObject({ status: 200 })
})

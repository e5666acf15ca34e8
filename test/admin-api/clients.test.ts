import { describe, expect, test } from 'vitest'
import { batch, issuer, setting } from './setting.ts'

const form = { grant_type: 'client_credentials', scope: 'api1' }

describe('clients, over HTTP', () => {
  test('are added, work, and are changed and removed in the version that the caller has seen', async () => {
    const { send, post } = await setting()
    const added = await send('POST', '/clients', { body: { ...batch, tags: ['nightly'] } })
    expect(added).toMatchObject({
      status: 201,
      body: { clientId: 'batch', tags: ['nightly'], secrets: [{ expiresAt: null }] },
    })
    expect(added.headers.get('location')).toBe(`${issuer}/admin/v1/clients/batch`)
    expect(added.headers.get('cache-control')).toBe('no-store')
    expect((await post('token', form, ['batch', added.body.secret])).status).toBe(200)

    const etag = added.headers.get('etag') ?? ''
    expect(etag).toBe(`"${added.body.version}"`)
    const shown = await send('GET', '/clients/batch')
    expect(shown.body).toEqual({ ...added.body, secret: undefined })
    expect(shown.headers.get('etag')).toBe(etag)
    expect((await send('HEAD', '/clients/batch')).headers.get('etag')).toBe(etag)

    const patch = { accessTokenLifetime: 600, refreshToken: { absoluteLifetime: 600 } }
    const changed = await send('PATCH', '/clients/batch', { body: patch, headers: { 'if-match': etag } })
    expect(changed).toMatchObject({ status: 200, body: { ...batch, ...patch, tags: ['nightly'] } })
    const merged = await send('PATCH', '/clients/batch', {
      body: { accessTokenLifetime: null, refreshToken: { slidingLifetime: 300 }, tags: null },
      headers: { 'if-match': changed.headers.get('etag') ?? '', 'content-type': 'application/merge-patch+json' },
    })
    expect(merged.body).toMatchObject({ refreshToken: { absoluteLifetime: 600, slidingLifetime: 300 }, tags: [] })
    expect(merged.body).not.toHaveProperty('accessTokenLifetime')

    const stale = await send('DELETE', '/clients/batch', { headers: { 'if-match': etag } })
    expect(stale).toMatchObject({ status: 412, body: { title: 'Precondition Failed', status: 412 } })
    expect(stale.headers.get('content-type')).toBe('application/problem+json')
    const removed = await send('DELETE', '/clients/batch', { headers: { 'if-match': `"x", "${merged.body.version}"` } })
    expect(removed).toMatchObject({ status: 204, body: undefined })
    expect((await send('GET', '/clients/batch')).status).toBe(404)
  })
})

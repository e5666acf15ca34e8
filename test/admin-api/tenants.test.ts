// A tenant that an administrator reads, changes and writes back: only the names of its plugins are shown, and their options stay.
import { kinds } from '@grantry/administration'
import { describe, expect, test } from 'vitest'
import { setting } from './setting.ts'

const secret = 'an-upstream-secret-of-acme'
const signIn = { name: 'sign-in', acr: '1', providers: [{ name: 'own', clientSecret: secret }] }
const shown = { name: 'sign-in' }

async function service() {
  const f = await setting()
  const added = await f.send('POST', '/tenants', {
    body: { name: 'acme', plugins: [signIn, { name: 'dpop', nonce: true }] },
  })
  expect(added.status).toBe(201)
  const read = async () => {
    const { headers, body } = await f.send('GET', '/tenants/acme')
    return { version: headers.get('etag') ?? '', body }
  }
  const patch = async (body: object, version?: string) =>
    f.send('PATCH', '/tenants/acme', { body, headers: { 'if-match': version ?? (await read()).version } })
  const stored = async () => {
    const entry = await f.entries.get(kinds.tenant.type.kind, 'acme')
    return (Object(entry?.value) as { readonly tenant: { readonly plugins?: unknown } }).tenant.plugins
  }
  return { ...f, read, patch, stored }
}

describe('a tenant that is read and written back', () => {
  test('21.88 has the options of its plugins, which no response contains', async () => {
    const { read, patch, stored, trail } = await service()
    const { body, version } = await read()
    expect(body.plugins).toEqual([shown, { name: 'dpop' }])
    const { name: _, version: _v, createdAt: _c, changedAt: _h, ...members } = body as Record<string, unknown>
    const { status, body: after } = await patch({ ...members, enabled: false }, version)
    expect([status, after.enabled, after.plugins]).toEqual([200, false, [shown, { name: 'dpop' }]])
    expect(await stored()).toEqual([signIn, { name: 'dpop', nonce: true }])
    expect(JSON.stringify([after, await trail()])).not.toContain(secret)
  })

  test('21.88 loses only what the change names: a plugin that is left out, and options that are replaced', async () => {
    const { patch, stored } = await service()
    await patch({ plugins: [{ name: 'dpop', algorithms: ['ES256'] }, shown] })
    expect(await stored()).toEqual([{ name: 'dpop', algorithms: ['ES256'] }, signIn])
    await patch({ plugins: [shown] })
    expect(await stored()).toEqual([signIn])
    await patch({ plugins: [{ name: 'mtls' }, shown] })
    expect(await stored()).toEqual([{ name: 'mtls' }, signIn])
    await patch({ plugins: null })
    expect(await stored()).toBeUndefined()
    // What was removed does not come back.
    await patch({ plugins: [shown] })
    expect(await stored()).toEqual([shown])
  })

  test('is not written over a change that was made meanwhile', async () => {
    const { read, patch } = await service()
    const { version } = await read()
    await patch({ homePage: false })
    expect((await patch({ enabled: false }, version)).status).toBe(412)
  })

  test('takes no options of another tenant, and none of the prototype', async () => {
    const { send, patch, stored } = await service()
    await send('POST', '/tenants', { body: { name: 'beta' } })
    await patch({ plugins: [{ name: '__proto__' }, { name: 'constructor' }] })
    expect(await stored()).toEqual([{ name: '__proto__' }, { name: 'constructor' }])
  })
})

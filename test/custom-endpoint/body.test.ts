import { defineEndpoint, definePlugin } from '@grantry/core'
import { basic, read } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { api1, builtInPlugins, fixture, web } from '../support/fixture.ts'

const params = v.object({ name: v.string(), uris: v.optional(v.array(v.string())) })
const shared = { methods: ['POST', 'PUT', 'GET'], body: 'json', params } as const

const json = definePlugin('json', [
  defineEndpoint({
    ...shared,
    name: 'open',
    path: '/open',
    caller: 'anyone',
    handle: ({ params }) => ({ json: params as never }),
  }),
  defineEndpoint({
    ...shared,
    name: 'client',
    path: '/client',
    caller: 'client',
    handle: ({ params }) => ({ json: params as never }),
  }),
  defineEndpoint({
    ...shared,
    name: 'scope',
    path: '/scope',
    caller: 'scope',
    handle: ({ params }) => ({ json: params as never }),
  }),
  defineEndpoint({
    ...shared,
    name: 'tokenBody',
    path: '/token',
    caller: 'token',
    scope: 'api1',
    params: v.any(),
    handle: ({ params }) => ({ json: params }),
  }),
])

async function start() {
  const f = await fixture({ plugins: [builtInPlugins, json], bodyLimit: 2000 })
  const send = async (path: string, body: BodyInit | null, headers: Record<string, string> = {}, method = 'POST') => {
    const init = { method, body, headers: { 'content-type': 'application/json', ...headers } }
    return read(await f.provider.fetch(new Request(`https://id.example.com${path}`, init)))
  }
  return { ...f, send }
}

const value = { name: 'a', uris: ['https://a.example', 'https://b.example'] }

describe('a JSON body', () => {
  test('is validated by the schema, which ignores unknown members', async () => {
    const { send } = await start()
    expect((await send('/open', JSON.stringify({ ...value, more: 1 }))).body).toEqual(value)
    expect((await send('/open', JSON.stringify(value), {}, 'PUT')).body).toEqual(value)
    const charset = { 'content-type': 'application/json; charset=utf-8' }
    expect((await send('/open', JSON.stringify(value), charset)).body).toEqual(value)
  })

  test('is refused with the name of the parameter that does not match', async () => {
    const { send } = await start()
    const describe = async (body: unknown) => (await send('/open', JSON.stringify(body))).body.error_description
    expect(await describe({})).toBe('The parameter name is required')
    expect(await describe({ name: 1 })).toBe('The parameter name is malformed')
    expect(await describe({ name: 'a', uris: ['a', 1] })).toBe('The parameter uris is malformed')
  })

  test.each([
    ['text', 'x'],
    ['nothing', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"a"'],
    ['two objects', '{}{}'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['arrays nested 900 levels deep', `{"name":"a","more":${'['.repeat(900)}${']'.repeat(900)}}`],
    ['the member __proto__', '{"name":"a","__proto__":{"isAdmin":true}}'],
    ['the member __proto__ in an array', '{"name":"a","more":[{"__proto__":{}}]}'],
  ])('that is %s is refused', async (_, body) => {
    const { send } = await start()
    const { status, body: answer } = await send('/open', body)
    expect([status, answer.error]).toEqual([400, 'invalid_request'])
  })

  test('does not appear in the error', async () => {
    const { send, events } = await start()
    const { body } = await send('/open', '{"secret-text": x')
    expect(JSON.stringify([body, events])).not.toContain('secret-text')
  })

  test('that is nested 19 levels deep is accepted', async () => {
    const { send } = await start()
    const body = `{"name":"a","more":${'['.repeat(19)}${']'.repeat(19)}}`
    expect((await send('/open', body)).body).toEqual({ name: 'a' })
  })

  test('has a limit, and the media type application/json', async () => {
    const { send } = await start()
    expect((await send('/open', JSON.stringify({ name: 'a'.repeat(2000) }))).status).toBe(413)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const refused = await send('/open', 'name=a', form)
    expect([refused.status, refused.body.error_description]).toEqual([415, 'The body must be application/json'])
  })

  test('contains no credentials: clients, scopes and tokens authenticate in the header', async () => {
    const { send, post } = await start()
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const { access_token } = (await post('token', form, web)).body
    const asClient = JSON.stringify({ ...value, client_id: web[0], client_secret: web[1] })
    const asScope = JSON.stringify({ ...value, client_id: api1[0], client_secret: api1[1] })
    const asToken = JSON.stringify({ ...value, access_token })
    expect((await send('/client', asClient)).status).toBe(401)
    expect((await send('/scope', asScope)).status).toBe(401)
    expect((await send('/token', asToken)).status).toBe(401)
    expect((await send('/client', asClient, { authorization: basic(web) })).body).toEqual(value)
    expect((await send('/scope', asScope, { authorization: basic(api1) })).body).toEqual(value)
    // The schema accepts every member, but the credential is removed.
    expect((await send('/token', asToken, { authorization: `Bearer ${access_token}` })).body).toEqual(value)
  })

  test('is parsed after the caller is authenticated', async () => {
    const { send } = await start()
    for (const path of ['/client', '/scope', '/token']) expect((await send(path, 'x')).status).toBe(401)
  })

  test('is required: a POST without a media type does not have its parameters in the query', async () => {
    const { provider } = await start()
    const request = new Request('https://id.example.com/open?name=a', { method: 'POST' })
    expect((await provider.fetch(request)).status).toBe(415)
  })

  test('does not exist in a GET, whose parameters are in the query', async () => {
    const { get } = await start()
    expect((await get('open', { name: 'a' })).body).toEqual({ name: 'a' })
  })
})

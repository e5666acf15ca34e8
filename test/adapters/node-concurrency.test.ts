/**
 * Attack (by load): two hundred concurrent clients post bodies of every size. Measured on other stacks: closing a
 * request whose body was read ends its response too early, and the client gets truncated JSON.
 *
 * RFC 9112 section 8: a message that ends early is incomplete. Each response is compared in full with the response of
 * the handler without HTTP.
 */
import { Agent, request } from 'node:http'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { api1, type Fixture, fixture, webJwt } from '../support/fixture.ts'

let f: Fixture
let server: RunningServer
let token: string
const agent = new Agent({ keepAlive: true, maxSockets: 100 })

beforeAll(async () => {
  // Large claims, so that a response does not fit into one packet.
  f = await fixture({
    scopes: [{ name: 'api1', claims: ['long'], secrets: [{ sha256: sha256Of(api1[1]) }] }, { name: 'api2' }],
    users: {
      isActive: () => true,
      authenticate: () => ({ sub: '1' }),
      claims: () => ({ long: 'é'.repeat(14_000) }),
    },
  })
  server = await serve(f.provider)
  const form = { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1' }
  token = (await f.post('token', form, webJwt)).body.access_token
})
afterAll(async () => {
  agent.destroy()
  await server.close(0)
})

interface ReceivedResponse {
  readonly status: number | undefined
  readonly text: string
}

function post(path: string, body: string, { chunks = 1, authorization = '' } = {}): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(authorization && { authorization }) }
    const req = request({ agent, host: server.host, port: server.port, path, method: 'POST', headers }, (res) => {
      const parts: Buffer[] = []
      res.on('data', (part) => parts.push(part))
      res.on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode, text: Buffer.concat(parts).toString() }))
    })
    req.on('error', reject)
    req.setTimeout(60_000, () => req.destroy(new Error('no response in a minute')))
    const size = Math.ceil(body.length / chunks)
    for (let at = 0; at < body.length; at += size) req.write(body.slice(at, at + size))
    req.end()
  })
}

test('200 concurrent posts of different sizes get complete responses', async () => {
  const direct = await f.post('accessTokenValidation', { token })
  expect(direct.status).toBe(200)
  const expected = JSON.stringify(direct.body)
  expect(expected.length).toBeGreaterThan(14_000)

  const posts = Array.from({ length: 200 }, (_, index) =>
    post('/connect/accesstokenvalidation', `token=${token}&x=${'y'.repeat((index * 131) % 26_000)}`, {
      chunks: 1 + (index % 7),
    }),
  )

  for (const response of await Promise.all(posts)) expect(response).toEqual({ status: 200, text: expected })
})

test('200 concurrent posts to different endpoints get their own responses', async () => {
  const cases = [
    { path: '/connect/accesstokenvalidation', body: `token=${token}`, status: 200, ends: '}' },
    { path: '/connect/accesstokenvalidation', body: 'token=x', status: 400, ends: 'not valid"}' },
    { path: '/connect/introspect', body: `token=${token}`, status: 401, ends: 'failed"}' },
    { path: '/connect/userinfo', body: '', status: 401, ends: '' },
    { path: '/connect/token', body: 'x=1', status: 401, ends: 'failed"}' },
    { path: '/connect/nothing', body: 'x'.repeat(60_000), status: 404, ends: 'endpoint"}' },
  ]
  const posts = Array.from({ length: 200 }, async (_, index) => {
    const { path, body, status, ends } = cases[index % cases.length] ?? { path: '', body: '', status: 0, ends: '' }
    const response = await post(path, body, { chunks: 1 + (index % 3) })
    expect({ path, status: response.status, ends: response.text.endsWith(ends) }).toEqual({ path, status, ends: true })
    if (response.text !== '') expect(() => JSON.parse(response.text)).not.toThrow()
  })
  await Promise.all(posts)
})

test('clients that disconnect do not affect others', async () => {
  const expected = JSON.stringify((await f.post('accessTokenValidation', { token })).body)
  const posts = Array.from({ length: 60 }, (_, index) => {
    const complete = post('/connect/accesstokenvalidation', `token=${token}`)
    if (index % 2 === 0) return complete
    const left = request({ host: server.host, port: server.port, path: '/connect/token', method: 'POST' })
    left.on('error', () => undefined)
    left.write(`token=${token}`)
    setImmediate(() => left.destroy())
    return complete
  })
  for (const response of await Promise.all(posts)) expect(response).toEqual({ status: 200, text: expected })
  expect(await post('/connect/introspect', `token=${token}`, { authorization: basic(api1) })).toMatchObject({
    status: 200,
  })
})

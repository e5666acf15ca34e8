/**
 * Attack (by load alone): two hundred callers post at once, with bodies of every size. Measured on other stacks: the close of a request whose body was read ends its response too early, and the caller
 * gets half a JSON text.
 *
 * RFC 9112 section 8: a message that ends early is incomplete. Each answer here is compared in full with what the handler says without HTTP.
 */
import { Agent, request } from 'node:http'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { basic, sha256Of } from '@grantry/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { api1, type Fixture, fixture, webJwt } from '../support/fixture.ts'

let f: Fixture
let server: RunningServer
let token: string
const agent = new Agent({ keepAlive: true, maxSockets: 100 })

beforeAll(async () => {
  // A user with claims of some size, so that answers do not fit in one packet.
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

interface Answer {
  readonly status: number | undefined
  readonly text: string
}

function post(path: string, body: string, { chunks = 1, authorization = '' } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(authorization && { authorization }) }
    const req = request({ agent, host: server.host, port: server.port, path, method: 'POST', headers }, (res) => {
      const parts: Buffer[] = []
      res.on('data', (part) => parts.push(part))
      res.on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode, text: Buffer.concat(parts).toString() }))
    })
    req.on('error', reject)
    req.setTimeout(10_000, () => req.destroy(new Error('no answer in ten seconds')))
    const size = Math.ceil(body.length / chunks)
    for (let at = 0; at < body.length; at += size) req.write(body.slice(at, at + size))
    req.end()
  })
}

test('200 posts at once, of different sizes, are each answered in full', async () => {
  const direct = await f.post('accessTokenValidation', { token })
  expect(direct.status).toBe(200)
  const expected = JSON.stringify(direct.body)
  expect(expected.length).toBeGreaterThan(14_000)

  const posts = Array.from({ length: 200 }, (_, index) =>
    post('/connect/accesstokenvalidation', `token=${token}&x=${'y'.repeat((index * 131) % 26_000)}`, {
      chunks: 1 + (index % 7),
    }),
  )

  for (const answer of await Promise.all(posts)) expect(answer).toEqual({ status: 200, text: expected })
})

test('200 posts at once of every kind are each answered for themselves', async () => {
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
    const answer = await post(path, body, { chunks: 1 + (index % 3) })
    expect({ path, status: answer.status, ends: answer.text.endsWith(ends) }).toEqual({ path, status, ends: true })
    if (answer.text !== '') expect(() => JSON.parse(answer.text)).not.toThrow()
  })
  await Promise.all(posts)
})

test('callers that hang up in the middle do not touch the others', async () => {
  const expected = JSON.stringify((await f.post('accessTokenValidation', { token })).body)
  const posts = Array.from({ length: 60 }, (_, index) => {
    const whole = post('/connect/accesstokenvalidation', `token=${token}`)
    if (index % 2 === 0) return whole
    const left = request({ host: server.host, port: server.port, path: '/connect/token', method: 'POST' })
    left.on('error', () => undefined)
    left.write(`token=${token}`)
    setImmediate(() => left.destroy())
    return whole
  })
  for (const answer of await Promise.all(posts)) expect(answer).toEqual({ status: 200, text: expected })
  expect(await post('/connect/introspect', `token=${token}`, { authorization: basic(api1) })).toMatchObject({
    status: 200,
  })
})

/**
 * Attack: a proxy and the server disagree on where a request ends, so that the rest of a body is taken for the request
 * of another client. Causes: two lengths, a false length, broken chunks, pipelining.
 *
 * RFC 9112 sections 6.3 (an invalid length gets 400 and the connection closes), 7.1 and 11.2.
 */
import { type RunningServer, serve } from '@grantry/adapters/node'
import { basic } from '@grantry/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { sendRaw } from './raw-bytes.ts'

let server: RunningServer
let f: Fixture
beforeAll(async () => {
  f = await fixture()
  server = await serve(f.provider)
})
afterAll(() => server.close(0))

const raw = (text: string, options?: { readonly cut?: boolean }): Promise<string> => sendRaw(server, text, options)

const statuses = (response: string): number[] =>
  [...response.matchAll(/HTTP\/1\.1 (\d{3}) /gu)].map(([, code]) => Number(code))
const form = 'grant_type=client_credentials&scope=api1'
const post = (lengths: string[], body: string, { close = true, path = '/connect/token' } = {}): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: ${basic(web)}`,
    'Content-Type: application/x-www-form-urlencoded',
    ...(close ? ['Connection: close'] : []),
    ...lengths,
    '',
    body,
  ].join('\r\n')
const length = (bytes: number | string): string => `Content-Length: ${bytes}`
const chunked = 'Transfer-Encoding: chunked'
const inChunks = (...chunks: string[]): string =>
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
/** A request that an attacker hides inside another. */
const smuggled = post([length(form.length)], form)

const issued = (): number => f.events.filter(({ type }) => type === 'token_issued').length

/** Expects that the attack gets no token, and that the server serves a valid request afterwards. */
async function expectNothingIssued(attack: () => Promise<string>, allowed: readonly number[] = [400]): Promise<void> {
  const before = issued()
  const response = await attack()
  for (const status of statuses(response)) expect(allowed).toContain(status)
  expect(response).not.toMatch(/ at .*:\d+|node_modules|node:internal|Error:/u)
  expect(issued()).toBe(before)
  expect(statuses(await raw(smuggled))).toEqual([200])
}

test('valid lengths are served, so the ones below are refused for their defects', async () => {
  expect(statuses(await raw(smuggled))).toEqual([200])
  expect(statuses(await raw(post([chunked], inChunks(form))))).toEqual([200])
  expect(statuses(await raw(post([chunked], inChunks(...form))))).toEqual([200])
})

describe('two lengths', () => {
  test.each<[string, string[], string]>([
    ['a length and chunks', [length(form.length), chunked], inChunks(form)],
    ['a length of zero and chunks', [length(0), chunked], inChunks(form)],
    ['chunks and a length', [chunked, length(3)], inChunks(form)],
    ['two different lengths', [length(form.length), length(0)], form],
    ['two equal lengths', [length(form.length), length(form.length)], form],
    ['two lengths in one', [length(`${form.length}, ${form.length}`)], form],
    ['chunked not as the last encoding', ['Transfer-Encoding: chunked, gzip'], inChunks(form)],
    ['only another encoding', ['Transfer-Encoding: gzip'], form],
    ['a misspelled chunked', ['Transfer-Encoding: xchunked'], inChunks(form)],
    ['a space before the colon', [`Content-Length : ${form.length}`], form],
  ])('%s', async (_, lengths, body) => {
    await expectNothingIssued(() => raw(post(lengths, body), { cut: true }))
  })
})

describe('an invalid length', () => {
  test.each(['-1', '+40', '0x28', '4 0', '40;', '4e1', 'NaN', '', '99999999999999999999999'])('%j', async (text) => {
    await expectNothingIssued(() => raw(post([length(text)], form), { cut: true }), [400, 401, 413])
  })
})

describe('invalid chunks', () => {
  test.each<[string, string]>([
    ['a size that is not a number', `zz\r\n${form}\r\n0\r\n\r\n`],
    ['a negative size', `-1\r\n${form}\r\n0\r\n\r\n`],
    ['a size with a sign', `+28\r\n${form}\r\n0\r\n\r\n`],
    ['a size with 0x', `0x28\r\n${form}\r\n0\r\n\r\n`],
    ['a size too large for a number', `FFFFFFFFFFFFFFFFF\r\n${form}\r\n0\r\n\r\n`],
    ['no size', `\r\n${form}\r\n0\r\n\r\n`],
    ['a size that is too small', `3\r\n${form}\r\n0\r\n\r\n`],
    ['no line break after the data', `28\r\n${form}0\r\n\r\n`],
    ['bare line feeds', `28\n${form}\n0\n\n`],
    ['a truncated chunk', `28\r\n${form.slice(0, 10)}`],
    ['no last chunk', `28\r\n${form}\r\n`],
    ['a broken trailer', `28\r\n${form}\r\n0\r\nbroken\r\n\r\n`],
  ])('%s', async (_, body) => {
    await expectNothingIssued(() => raw(post([chunked], body), { cut: true }))
  })
})

describe('a false length', () => {
  test.each([1, 30, 39])('a body that ends after %i bytes is not processed', async (sent) => {
    await expectNothingIssued(() => raw(post([length(form.length)], form.slice(0, sent)), { cut: true }))
  })

  test('a request that ends within its headers is not processed', async () => {
    await expectNothingIssued(() => raw(post([length(form.length)], '').slice(0, -20), { cut: true }))
  })

  test('bytes beyond the length of a body are not processed', async () => {
    const before = issued()
    const response = await raw(post([length(0)], form, { close: false }), { cut: true })
    expect(statuses(response).every((status) => status === 400)).toBe(true)
    expect(issued()).toBe(before)
  })

  test('a request inside the body of another is not processed', async () => {
    const before = issued()
    const response = await raw(post([length(smuggled.length)], smuggled))
    expect(statuses(response)).toEqual([400])
    expect(issued()).toBe(before)
  })
})

describe('pipelined requests', () => {
  test('get their responses in order', async () => {
    const response = await raw(
      post([length(form.length)], form, { close: false }) +
        post([length(3)], 'x=1', { close: false }) +
        post([chunked], inChunks(form), { close: false, path: '/connect/nothing' }) +
        'HEAD /connect/userinfo HTTP/1.1\r\nHost: x\r\n\r\n' +
        'OPTIONS /connect/introspect HTTP/1.1\r\nHost: x\r\n\r\n' +
        smuggled,
    )
    expect(statuses(response)).toEqual([200, 400, 404, 401, 405, 200])
    expect(response.match(/"access_token"/gu)).toHaveLength(2)
  })

  test('an unread body is not taken for the next request', async () => {
    const json = post([length(smuggled.length)], smuggled, { close: false }).replace('x-www-form-urlencoded', 'json')
    const before = issued()
    expect(statuses(await raw(json + smuggled))).toEqual([415, 200])
    expect(issued()).toBe(before + 1)
  })

  test('are not processed after a malformed one', async () => {
    const before = issued()
    const response = await raw(post([chunked], `zz\r\n${form}\r\n0\r\n\r\n`, { close: false }) + smuggled)
    expect(statuses(response)).toEqual([400])
    expect(issued()).toBe(before)
  })
})

test('HEAD has the headers of GET and no body', async () => {
  const of = (method: string) => raw(`${method} /.well-known/jwks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const [head, get] = [await of('HEAD'), await of('GET')]
  expect(statuses(head)).toEqual([200])
  expect(head.endsWith('\r\n\r\n')).toBe(true)
  expect(get).toContain('"keys"')
  expect(head).toMatch(/^content-type: application\/json\r$/imu)
})

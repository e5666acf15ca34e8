/**
 * Attack: malformed or hostile HTTP, sent to a real server process on every runtime. After each case, the server still
 * serves a valid request. No response contains internal details, and no token is issued without a response.
 *
 * RFC 9112, RFC 9110 sections 7 to 10; wire contract, section 1.
 */
import { describe, expect, test } from 'vitest'
import { bodyCases } from './cases/bodies.ts'
import { chunkCases } from './cases/chunks.ts'
import { connectionCases } from './cases/connections.ts'
import { headerCases, strangerCases } from './cases/headers.ts'
import { hostCases } from './cases/hosts.ts'
import { lengthCases } from './cases/lengths.ts'
import { methodCases } from './cases/methods.ts'
import { targetCases } from './cases/targets.ts'
import { bytesOf, exchange } from './exchange.ts'
import { expectCase, type FramingCase } from './framing-case.ts'
import { readResponses } from './raw-responses.ts'
import { chunks, form, hiddenRequest, inChunks, tokenRequest } from './requests.ts'
import { describeServers } from './servers.ts'

const groups = {
  hosts: hostCases,
  targets: targetCases,
  headers: headerCases,
  methods: methodCases,
  unknownCallers: strangerCases,
  lengths: lengthCases,
  // The others are in stalls.test.ts, whose servers have a short time limit.
  chunks: chunkCases.filter(({ endsByTimeLimit }) => endsByTimeLimit !== true),
  bodies: bodyCases,
  connections: connectionCases,
}

/** Maximum length in bytes of a case that is sent byte by byte. */
const short = 1500
const isShort = ({ send }: FramingCase): boolean =>
  typeof send !== 'function' && send.reduce<number>((sum, piece) => sum + bytesOf(piece), 0) < short

describeServers('hostile bytes', (server, name) => {
  describe.each(Object.entries(groups))('%s', (_, cases) => {
    test.each(cases)('$name', (framingCase) => expectCase(server(), framingCase))
  })

  // The segments of a message must not matter. Node.js only: Bun and Deno parse the connection themselves.
  const cut = name === 'node' ? Object.entries(groups) : []
  describe.each(cut)('%s, byte by byte', (_, cases) => {
    test.each(cases.filter(isShort))('$name', (framingCase) => expectCase(server(), framingCase, true))
  })

  // RFC 9112 section 9.6: closing a connection while its client still sends causes a reset, which discards an unread
  // response.
  const behind =
    name === 'node'
      ? [
          ['a request', hiddenRequest],
          ['garbage', '\u0000\u0000\r\n\r\n'],
        ]
      : []
  test.each(behind)('the last response of a connection is not lost when %s follows', async (_, more) => {
    const late = { deaf: 50 }
    for (const keep of [true, false]) {
      const sent = [tokenRequest({ keep }), late, more, late, more, late, more]
      const { text } = await exchange(server(), sent)
      expect(readResponses(text)[0], `keep ${keep}`).toMatchObject({ status: 200 })
    }
    await server().issuedSince()
  })

  test.each([
    ['a length', tokenRequest()],
    ['chunks', tokenRequest({ lengths: [inChunks], body: chunks(form.slice(0, 9), form.slice(9)) })],
  ])('a request with %s is parsed the same wherever it is split', async (_, request) => {
    for (let at = 1; at < request.length; at += 1) {
      const { text } = await exchange(server(), [request.slice(0, at), 0, request.slice(at)])
      expect(readResponses(text), `split at ${at}`).toMatchObject([{ status: 200 }])
    }
    expect(await server().issuedSince()).toHaveLength(request.length - 1)
  })
})

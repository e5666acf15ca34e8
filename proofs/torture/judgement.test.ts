// What the clients of the torture must detect, response by response.
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../test/support/random.ts'
import { newFamily, type SpentToken } from './family.ts'
import { isRetryable } from './final-checks.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Outcome } from './post.ts'
import { createRefresh } from './refresh.ts'
import { createSend, type ReceivedResponse } from './send.ts'
import { examine } from './whole-records.ts'
import { retryWindow } from './window.ts'

const as = ['client', 'secret'] as const

const response = (status: number, body: object = {}, retryAfter?: string): Outcome => ({
  kind: 'response',
  status,
  retryAfter,
  body: { ...body },
})

/** Sends requests to servers that return these outcomes one after the other. */
async function ledgerAfter(...outcomes: readonly Outcome[]): Promise<Ledger> {
  const ledger = createLedger()
  const left = [...outcomes]
  const post = async (): Promise<Outcome> => left.shift() ?? response(200)
  await createSend({ post, ports: [1], ledger, random: createRandom(1) })('/connect/token', {}, as)
  return ledger
}

describe('a response', () => {
  const unavailable = { error: 'temporarily_unavailable' }
  test.each<[string, Outcome]>([
    ['500', response(500, { error: 'server_error' })],
    ['401', response(401, { error: 'invalid_client' })],
    ['429', response(429, { error: 'slow_down' }, '1')],
    ['400 with another error than invalid_grant', response(400, { error: 'invalid_request' })],
    ['503 without Retry-After', response(503, unavailable)],
    ['503 with another error', response(503, { error: 'server_error' }, '1')],
    ['503 that a proxy could have made', response(503, {}, 'soon')],
  ])('of %s is a violation', async (_, outcome) => {
    expect((await ledgerAfter(outcome)).violations['answers known']).toHaveLength(1)
  })

  test('of 200, of 400 invalid_grant, and of 503 with Retry-After before it is not a violation', async () => {
    const { violations, counts } = await ledgerAfter(
      response(503, unavailable, '1'),
      { kind: 'broken' },
      { kind: 'unreached' },
      response(200),
    )
    expect(violations['answers known']).toEqual([])
    expect(counts).toMatchObject({ requests: 4, unavailable: 1, broken: 1, unreached: 1, retriesAnswered: 1 })
    expect((await ledgerAfter(response(400, { error: 'invalid_grant' }))).violations['answers known']).toEqual([])
  })
})

describe('the newest refresh token of a client', () => {
  const second = 1_800_000_000_000

  /** Presents it to servers that respond like this. */
  async function presented(...responses: readonly Partial<ReceivedResponse>[]) {
    const ledger = createLedger()
    const left = [...responses]
    const send = async (): Promise<ReceivedResponse> => {
      const usual = { status: 200, body: {}, firstSentAt: second, answeredAt: second + 5, attempts: 1 }
      return { ...usual, ...left.shift() }
    }
    const family = newFamily(as, 'refresh', 'access')
    const state = await createRefresh({ send, ledger }).advance(family, responses.length)
    return { state, family, refused: ledger.violations['retry answered'], twice: ledger.violations['one successor'] }
  }
  const tokens = (name: string) => ({ body: { refresh_token: `refresh ${name}`, access_token: `access ${name}` } })
  const windowEnd = second + retryWindow * 1000

  test('rejected at the first attempt is a violation, however long that took', async () => {
    const { state, refused } = await presented({ status: 400, answeredAt: windowEnd + 60_000 })
    expect([state, refused.length]).toEqual(['lost', 1])
  })

  test('rejected at a retry is a violation until the second in which its window ends', async () => {
    const early = await presented({ status: 400, attempts: 2, answeredAt: windowEnd - 1 })
    expect([early.state, early.refused.length]).toEqual(['lost', 1])
    const late = await presented({ status: 400, attempts: 2, answeredAt: windowEnd })
    expect([late.state, late.refused.length]).toEqual(['dead', 0])
  })

  test('must be answered again for half of its window, from when it was first sent', async () => {
    // The response to the first attempt was lost; the server spent the token nevertheless.
    const { family } = await presented({ ...tokens('a'), attempts: 3, answeredAt: windowEnd - 1000 })
    const spent = family.lastSpent as SpentToken
    const half = second + (retryWindow / 2) * 1000
    expect([isRetryable(spent, half - 1), isRetryable(spent, half)]).toEqual([true, false])
  })

  test('rejected for one of two concurrent requests is a violation', async () => {
    const { state, refused } = await presented(tokens('a'), { status: 400 })
    expect([state, refused.length]).toEqual(['lost', 1])
  })

  test.each([
    ['other tokens', tokens('b')],
    ['only another access token', { body: { ...tokens('a').body, access_token: 'access b' } }],
  ])('exchanged by two concurrent requests with %s is a violation', async (_, second) => {
    expect((await presented(tokens('a'), second)).twice).toHaveLength(1)
  })

  test('exchanged alike by two concurrent requests is not a violation, and the family continues with the new tokens', async () => {
    const { state, family, refused, twice } = await presented(tokens('a'), tokens('a'))
    expect([state, refused, twice]).toEqual(['alive', [], []])
    expect(family).toMatchObject({ refreshToken: 'refresh a', accessToken: 'access a', elderAccessTokens: ['access'] })
  })
})

test.each([
  ['empty', ''],
  ['torn', '{"version":1,"expiresAt":1,"value":{'],
  ['another version', '{"version":2,"expiresAt":1,"value":{}}'],
  ['without a value', '{"version":1,"expiresAt":1}'],
  ['null', 'null'],
])('a record that is %s is broken', (_, value) => {
  const complete = '{"version":1,"expiresAt":1,"value":{}}'
  expect(
    examine([
      ['whole', complete],
      ['other', value],
    ]),
  ).toMatchObject({ records: 2, broken: [expect.stringMatching(/^other: /)] })
})

test('a counter is whole: a number, or in files a name', () => {
  expect(
    examine([
      ['grantry:count:0a1b', '17'],
      ['grantry:probe:0a1b', '1'],
      ['items/0a/count.0a1b/000000000012.g', ''],
    ]).broken,
  ).toEqual([])
  expect(examine([['grantry:count:0a1b', 'many']]).broken).toHaveLength(1)
})

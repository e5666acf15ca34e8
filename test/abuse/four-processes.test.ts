// Attack: guesses that are sent all at once to all processes of a service, each of which sees only its own. The count must be exact across them.
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { guessTogether } from './guessers.ts'

describeWithRedis('of 4 x 60 guesses at once, at four processes on one Redis with a slow network', () => {
  let program: string
  let server: RedisServer
  beforeAll(async () => {
    program = await bundle(new URL('./programs/guesser.ts', import.meta.url))
    server = await startRedis()
  }, 60_000)
  afterAll(async () => {
    await Promise.all([rm(dirname(program), { recursive: true }), server?.stop()])
  })
  const guess = (prefix: string, grant: 'password' | 'client_credentials', spread: boolean) =>
    guessTogether(program, 4, { url: server.url, prefix, now: 1_800_000_000, guesses: 60, grant, spread })

  test('five passwords of a user from one address are judged', async () => {
    const { judged, count } = await guess('one', 'password', false)
    expect([judged, count(400), count(429)]).toEqual([5, 5, 235])
  }, 60_000)

  test('twenty passwords of a user from 240 addresses are judged', async () => {
    const { judged, count } = await guess('many', 'password', true)
    expect([judged, count(400), count(429)]).toEqual([20, 20, 220])
  }, 60_000)

  test('ten secrets of a client from one address are told to be wrong', async () => {
    const { count } = await guess('client', 'client_credentials', false)
    expect([count(401), count(429)]).toEqual([10, 230])
  }, 60_000)

  test('nothing stays in Redis without an end', async () => {
    const keys = (await server.command('KEYS', '*')) as string[]
    expect(keys.length).toBeGreaterThan(20)
    const ends = await Promise.all(keys.map((key) => server.command('PTTL', key)))
    expect(ends.filter((end) => Number(end) <= 0)).toEqual([])
  })
})

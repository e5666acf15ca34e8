// Attack: one machine guesses the password of a user and the secret of a client as fast as possible, at all processes
// of the service.
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import {
  bruteForce,
  bruteForceReport,
  mostPasswords,
  secretFailures,
  secretWindow,
  serverProgram,
} from './brute-force.ts'

describeWithRedis('a brute-force run against two server processes on one Redis', () => {
  test('is throttled to the configured rate, while another user and another client are served', async () => {
    const program = await serverProgram()
    onTestFinished(() => rm(dirname(program), { recursive: true }))
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const run = await bruteForce(program, { driver: 'redis', url: redis.url }, 2, 2)
    console.info(bruteForceReport(run))

    const { passwords, secrets, before, during, begun, ended } = run
    expect([...passwords.keys()].sort()).toEqual([400, 429])
    expect(passwords.get(400)).toBeGreaterThanOrEqual(5)
    expect(passwords.get(400)).toBeLessThanOrEqual(mostPasswords(begun, ended))
    expect([...secrets.keys()].sort()).toEqual([401, 429])
    const windows = Math.floor(ended / secretWindow) - Math.floor(begun / secretWindow) + 1
    expect(secrets.get(401)).toBeGreaterThanOrEqual(secretFailures)
    expect(secrets.get(401)).toBeLessThanOrEqual(secretFailures * windows)

    expect([...before.statuses]).toEqual([200])
    expect([...during.statuses]).toEqual([200])
  })
})

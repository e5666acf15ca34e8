import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import type { Program } from './program.ts'
import { exchange } from './response.ts'
import { bytesOf } from './wire-request.ts'
import { startWorker } from './worker.ts'

const workerd = runtimeExecutable('.bin/workerd')

describeWithRuntime('a Worker that creates its provider on the first request', workerd, () => {
  let program: Program
  beforeAll(async () => {
    program = await startWorker(workerd, new URL('./programs/workerd.ts', import.meta.url))
  })
  afterAll(() => program?.stop())

  test('responds to every concurrent first request', async () => {
    const request = bytesOf({ target: '/.well-known/jwks' }, 'id.example.com')
    const responses = await Promise.all(Array.from({ length: 20 }, () => exchange(program.port, request)))
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(program.console()).toBe('')
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSlice } from '../../bench/load/run-slice.ts'
import { operationNames } from '../../bench/operations.ts'
import { type Bundles, openBundles } from '../../bench/run/bundles.ts'
import { startServer } from '../../bench/run/server-process.ts'
import { newSetting } from '../../bench/setting.ts'

const programs = ['programs/limit-node.ts', 'programs/grantry-node.ts']
const connections = 4
const seconds = 0.1

describe('the measured servers', () => {
  let bundles: Bundles
  beforeAll(() => {
    bundles = openBundles(new URL('../../bench/', import.meta.url))
  })
  afterAll(() => bundles.remove())

  describe.each(programs)('%s', (program) => {
    it.each(operationNames)('%s: every response is correct', async (operation) => {
      const setting = newSetting(operation, connections)
      const { d, p, q, dp, dq, qi, ...publicKey } = setting.signingKey
      const server = await startServer([process.execPath, await bundles.bundle(program)], setting)
      try {
        const { port, tokens } = server
        const slice = { operation, port, tokens, seconds, connections, publicKey }
        const { requests, failures, firstFailure } = await runSlice(slice)
        expect({ failures, firstFailure }).toEqual({ failures: 0, firstFailure: undefined })
        expect(requests).toBeGreaterThanOrEqual(connections)
      } finally {
        await server.stop()
      }
    })
  })
})

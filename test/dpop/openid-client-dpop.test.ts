import { afterAll, beforeAll, describe } from 'vitest'
import { testFlows } from './flows.ts'
import { type DpopServer, startDpopServer } from './server.ts'

for (const nonce of [false, true]) {
  describe(`openid-client with the ready server and DPoP, ${nonce ? 'with' : 'without'} nonces`, () => {
    let server: DpopServer
    beforeAll(async () => {
      server = await startDpopServer(nonce)
    })
    afterAll(() => server?.close())

    testFlows(() => server.issuer, nonce)
  })
}

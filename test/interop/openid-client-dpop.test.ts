import { afterAll, beforeAll, describe } from 'vitest'
import { testFlows } from './dpop-flows.ts'
import { type DpopServer, startDpopServer } from './dpop-server.ts'

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

import { afterAll, beforeAll, describe } from 'vitest'
import { testOauth4webapiFlows } from './oauth4webapi-dpop-flows.ts'
import { type DpopServer, startDpopServer } from './server.ts'

for (const nonce of [false, true]) {
  describe(`oauth4webapi with the ready server and DPoP, ${nonce ? 'with' : 'without'} nonces`, () => {
    let server: DpopServer
    beforeAll(async () => {
      server = await startDpopServer(nonce)
    })
    afterAll(() => server?.close())

    testOauth4webapiFlows(() => server.issuer, nonce)
  })
}

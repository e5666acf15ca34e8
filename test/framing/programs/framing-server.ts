import type { RunningServer, Servable, TlsSettings } from '@grantry/adapters/node'
import { fixture } from '../../support/fixture.ts'
import { endWithParent } from '../../support/programs/end-with-parent.ts'

type Serve = (
  provider: Servable,
  options: { readonly requestTimeout: number; readonly tls?: TlsSettings | undefined },
) => Promise<Pick<RunningServer, 'port' | 'close'>>

/** The server under test. It prints its port, then the client of every token that it issues. */
export async function run(serve: Serve): Promise<void> {
  endWithParent()
  const { provider } = await fixture({
    observe: (event) => {
      if (event.type === 'token_issued') console.log(`issued ${event.clientId}`)
    },
  })
  const { GRANTRY_TEST_TLS: tls, GRANTRY_TEST_REQUEST_TIMEOUT: requestTimeout } = process.env
  const { port, close } = await serve(provider, {
    requestTimeout: Number(requestTimeout),
    tls: tls && JSON.parse(tls),
  })
  process.once('SIGTERM', () => close(1))
  console.log(`listening ${port}`)
}

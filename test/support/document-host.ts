import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { alternativeNames } from '../mtls/certificates.ts'
import { root, signedByRoot, withKeys } from '../mtls/https.ts'

/** A host with https that has the metadata document of one client, on this machine. */
export interface DocumentHost {
  /** The id of the client. */
  readonly metadataUrl: string
  /** The environment with which a process of any runtime trusts the host. */
  readonly environment: Readonly<Record<string, string>>
  close(): void
}

/** @param directory where the certificate is */
export async function startDocumentHost(directory: string, document: object): Promise<DocumentHost> {
  const trusted = join(directory, 'document-host.pem')
  writeFileSync(trusted, root.pem)
  const keyed = withKeys(signedByRoot({ extensions: [alternativeNames([2, 'localhost'])] }))
  const server = createServer(keyed, (_req, res) => {
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ client_id: metadataUrl, ...document }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const metadataUrl = `https://localhost:${(server.address() as AddressInfo).port}/client.json`
  return {
    metadataUrl,
    environment: { NODE_EXTRA_CA_CERTS: trusted, DENO_CERT: trusted },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

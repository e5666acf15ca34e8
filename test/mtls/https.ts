import { type Agent, request as send } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { authority, type CertificateOptions, certificate, commonName, type Issued } from './certificates.ts'

const now = Math.floor(Date.now() / 1000)
/** A period for servers and clients that use the clock of the machine. */
export const current = { notBefore: now - 60, notAfter: now + 3600 }

export const root = certificate({ subject: commonName('Test root'), extensions: authority, ...current })

/** A certificate that the root has signed. */
export const signedByRoot = (options: CertificateOptions): Issued => certificate({ by: root, ...current, ...options })

export const serverCertificate = signedByRoot({ subject: commonName('localhost') })

/** The options with which a server or a client uses a certificate. */
export const withKeys = (issued: Issued | undefined): SecureContextOptions =>
  issued === undefined ? {} : { cert: issued.pem, key: issued.keyPem }

/** Returns a `fetch` whose connections have this certificate. */
export function fetchWith(issued: Issued | undefined, agent?: Agent): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = Buffer.from(await request.arrayBuffer())
    return new Promise((resolve, reject) => {
      const { method, url, headers } = request
      const options = {
        method,
        headers: { ...Object.fromEntries(headers), 'content-length': body.length },
        ca: root.pem,
        checkServerIdentity: () => undefined,
        ...withKeys(issued),
        ...(agent !== undefined && { agent }),
      }
      send(url, options, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => {
          const { statusCode: status = 0, headers: received } = incoming
          const pairs = Object.entries(received).map(([name, value]): [string, string] => [name, String(value)])
          resolve(new Response(Buffer.concat(chunks), { status, headers: pairs }))
        })
      })
        .on('error', reject)
        .end(body)
    })
  }
}

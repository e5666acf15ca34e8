import { localPort } from './local-address.ts'
import type { GrantryServer } from './server.ts'

/** What an operator should change, and the name of it for programs. */
export interface ServerWarning {
  readonly reason: string
  readonly message: string
}

/** An issuer under which clients do not find this server; `undefined` where it is right. */
export function issuerWarning({
  provider,
  running,
}: Pick<GrantryServer, 'provider' | 'running'>): ServerWarning | undefined {
  const port = localPort(provider.issuer)
  if (port === undefined || port === running.port) return undefined
  return {
    reason: 'issuer_port_mismatch',
    message: `The issuer names port ${port}, the server listens on ${running.port}: clients will look in the wrong place`,
  }
}

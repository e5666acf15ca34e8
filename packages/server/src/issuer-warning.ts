import { localPort } from './local-address.ts'
import type { GrantryServer } from './server.ts'

/** A warning to the operator, with a stable reason code. */
export interface ServerWarning {
  readonly reason: string
  readonly message: string
}

/** Warns when a loopback issuer names another port than the one the server listens on. */
export function issuerWarning({
  provider,
  running,
}: Pick<GrantryServer, 'provider' | 'running'>): ServerWarning | undefined {
  const port = localPort(provider.issuer)
  if (port === undefined || port === running.port) return undefined
  return {
    reason: 'issuer_port_mismatch',
    message: `The issuer names port ${port}, but the server listens on ${running.port}: clients will connect to the wrong port`,
  }
}

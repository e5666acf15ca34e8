/** What the operator changes to listen elsewhere. */
interface Settings {
  readonly port: string
  readonly host: string
}

/** A busy port, a forbidden one, an unknown address: what to do, in one sentence. */
export function listenFailure(
  cause: unknown,
  host: string,
  port: number,
  { port: portSetting, host: hostSetting }: Settings = { port: '--port', host: '--host' },
): Error {
  const { code, message } = cause as { code?: string; message?: string }
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is in use; stop what listens there, or take another with ${portSetting}`,
    EACCES: `port ${port} may not be listened on by this user; take one above 1023 with ${portSetting}`,
    EADDRNOTAVAIL: `${host} is no address of this machine; take one with ${hostSetting}`,
    ENOTFOUND: `${host} is no known host; take an address of this machine with ${hostSetting}`,
  }
  return new TypeError(known[code ?? ''] ?? `cannot listen on ${host}:${port}: ${message}`, { cause })
}

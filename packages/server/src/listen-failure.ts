/** The settings to name in the message. */
interface Settings {
  readonly port: string
  readonly host: string
}

/** Turns a failed `listen()` into an error whose one-line message says what to change. */
export function listenFailure(
  cause: unknown,
  host: string,
  port: number,
  { port: portSetting, host: hostSetting }: Settings = { port: '--port', host: '--host' },
): Error {
  const { code, message } = cause as { code?: string; message?: string }
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is in use; stop the other process, or choose another port with ${portSetting}`,
    EACCES: `this user is not allowed to listen on port ${port}; choose one above 1023 with ${portSetting}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine; choose one with ${hostSetting}`,
    ENOTFOUND: `${host} is an unknown host; choose an address of this machine with ${hostSetting}`,
  }
  return new TypeError(known[code ?? ''] ?? `cannot listen on ${host}:${port}: ${message}`, { cause })
}

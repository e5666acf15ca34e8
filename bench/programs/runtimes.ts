// Minimal types for the servers of Bun and Deno, whose type packages are not installed.
type Fetch = (request: Request) => Promise<Response>

interface Bun {
  serve(options: object): { readonly port: number }
}

interface Deno {
  serve(options: object, handler: Fetch): { readonly addr: { readonly port: number } }
}

const { Bun, Deno } = globalThis as unknown as { readonly Bun: Bun; readonly Deno: Deno }

/** @returns the port */
export const bunServe = (fetch: Fetch): number =>
  Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch }).port

/** @returns the port */
export const denoServe = (fetch: Fetch): number =>
  Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, fetch).addr.port

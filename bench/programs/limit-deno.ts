import { readSetting, sayReady } from '../setting.ts'
import { createLimit } from './limit.ts'
import { limitFetch } from './limit-fetch.ts'

interface Deno {
  serve(options: object, handler: (request: Request) => Promise<Response>): { readonly addr: { readonly port: number } }
}

const limit = createLimit(readSetting())
const { Deno } = globalThis as unknown as { readonly Deno: Deno }
const { addr } = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, limitFetch(limit))
sayReady({ port: addr.port, tokens: limit.tokens })

import { readSetting, sayReady } from '../setting.ts'
import { createLimit } from './limit.ts'
import { limitFetch } from './limit-fetch.ts'

interface Bun {
  serve(options: object): { readonly port: number }
}

const limit = createLimit(readSetting())
const { Bun } = globalThis as unknown as { readonly Bun: Bun }
const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: limitFetch(limit) })
sayReady({ port, tokens: limit.tokens })

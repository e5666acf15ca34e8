import { denoRuntime } from '@grantry/adapters/deno'
import { compare } from './differential.ts'

await compare(denoRuntime)

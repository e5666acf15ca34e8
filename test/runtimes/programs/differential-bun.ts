import { bunRuntime } from '@grantry/adapters/bun'
import { compare } from './differential.ts'

await compare(bunRuntime)

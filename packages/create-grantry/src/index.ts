export { main } from './main.ts'
export { startOnce } from './prove.ts'

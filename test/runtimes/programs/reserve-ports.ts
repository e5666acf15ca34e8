// Reserves ports, prints them, and keeps them until its standard input ends.
import { createPortReserve } from '../../support/port-reserve.ts'

const [directory = '', first, last, count] = process.argv.slice(2)
const { reserve } = createPortReserve({ directory, first: Number(first), last: Number(last) })
const ports: number[] = []
while (ports.length < Number(count)) ports.push(await reserve())
process.stdout.write(`${JSON.stringify(ports)}\n`)
process.stdin.resume().once('end', () => process.exit())

export default function NotFound() {
  return <p>The page of the site for unknown addresses</p>
}

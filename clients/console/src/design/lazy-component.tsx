import { type ComponentType, type FunctionComponent, useEffect, useState } from 'react';
import { Button } from './button';
import { Alert } from './layout';
import { Skeleton } from './skeleton';

/** A component whose code is fetched when it is first shown, or by `fetch` before. */
type Fetched<Props> = FunctionComponent<Props> & { fetch(): Promise<void> };

/**
 * A component that is fetched. `lazy` and `Suspense` do the same, but React shows what they wait for 300 ms after the
 * last thing that it showed, also where the code is here after one; nested ones took 700 ms.
 *
 * @param load imports the component.
 * @param rows of the skeleton until it is here.
 */
export function lazyComponent<Props extends object = object>(
  load: () => Promise<ComponentType<Props>>,
  rows = 8,
): Fetched<Props> {
  let Content: ComponentType<Props> | undefined;
  const fetch = async () => {
    Content = await load();
  };
  function Placeholder(props: Props) {
    const [state, setState] = useState<'waiting' | 'here' | 'failed'>('waiting');
    useEffect(() => {
      if (Content !== undefined) return;
      fetch().then(
        () => setState('here'),
        () => setState('failed'),
      );
    }, []);
    if (Content !== undefined) return <Content {...props} />;
    if (state !== 'failed') return <Skeleton rows={rows} />;
    return (
      <Alert actions={<Button onClick={() => location.reload()}>Reload</Button>}>
        This part of the console could not be loaded. The gateway may have been updated, or is unreachable.
      </Alert>
    );
  }
  return Object.assign(Placeholder, { fetch });
}

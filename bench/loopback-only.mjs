/** Preloaded into a compared server that offers no listen address: keeps it off the network while it is measured. */
import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function listenOnLoopback(first, ...rest) {
  if (typeof first === 'number')
    return listen.call(this, { port: first, host: '127.0.0.1' }, ...rest.filter((arg) => typeof arg === 'function'));
  const options = typeof first === 'object' && 'port' in first ? { ...first, host: '127.0.0.1' } : first;
  return listen.call(this, options, ...rest);
};

"""Functions that few scripts call, each with numbers."""
import numpy as np
import tensorflow as tf

print(tf.strings.to_hash_bucket(["a","hello world, this is","12345678", ""], 1000003).numpy())
print(tf.strings.substr(["abcdef","xyz"], [1,-2],[2,1]).numpy(), tf.strings.regex_replace("a1b22","(\\d+)", r"<\1>").numpy(), tf.strings.regex_replace(b"\xff a","a","b").numpy(), tf.strings.regex_replace("A.b!c","[[:punct:]]","").numpy())
a=tf.constant(np.random.default_rng(0).normal(size=(2,4,4)),tf.float32)
lu,p=tf.linalg.lu(a); print(lu.numpy().round(3)[1], p.numpy()); print(np.abs(tf.linalg.lu_reconstruct(lu,p)-a).max()<1e-5, tf.linalg.lu_solve(lu,p,tf.ones((2,4,1))).numpy().round(3).ravel())
print(tf.linalg.diag([1.,2.],k=-1).numpy().tolist(), tf.linalg.diag_part(tf.reshape(tf.range(9),(3,3)),k=1).numpy())
print(tf.linalg.tridiagonal_solve(tf.constant([[1.,1,0],[4,4,4],[0,1,1]]),tf.constant([1.,2,3])).numpy().round(4))
x=tf.constant(np.random.default_rng(1).normal(size=(5,2,4)),tf.float32)
d,s=tf.nn.ctc_greedy_decoder(x,[5,4]); print(tf.sparse.to_dense(d[0]).numpy().tolist(), s.numpy().round(3).ravel())
print(tf.nn.ctc_loss(tf.constant([[1,2],[2,0]]), x, tf.constant([2,1]), tf.constant([5,5]), blank_index=0).numpy().round(3), tf.nn.ctc_loss(tf.constant([[0,2],[2,0]]), x, tf.constant([2,1]), tf.constant([5,5]), blank_index=-1).numpy().round(3))
sp=tf.SparseTensor([[0,0],[0,1],[2,0]],[1,0,2],[3,2])
for c in ("sum","mean","sqrtn"): print(c, tf.nn.embedding_lookup_sparse(tf.reshape(tf.range(6.),(3,2)),sp,None,combiner=c).numpy().round(3).tolist())
print(tf.nn.collapse_repeated([[1,1,2,2,3],[4,4,0,0,0]],[5,2])[0].numpy().tolist())
print(tf.signal.idct(tf.constant([1.,2,3])).numpy().round(3), tf.signal.idct(tf.constant([1.,2,3]),norm="ortho").numpy().round(3), tf.signal.kaiser_window(4).numpy().round(3), tf.signal.vorbis_window(4).numpy().round(3), tf.signal.ifftshift(tf.range(5)).numpy(), tf.signal.fftshift(tf.range(5)).numpy())
sv=(tf.constant([0,3],tf.int64),tf.constant([[0.5],[0.5]]),tf.constant([0.4,0.6]))
W=tf.reshape(tf.range(8.),(4,2))/8; print(tf.nn.sampled_softmax_loss(W,tf.zeros(4),tf.constant([[1],[3]],tf.int64),tf.ones((2,2)),2,4,sampled_values=sv).numpy().round(4), tf.nn.nce_loss(W,tf.zeros(4),tf.constant([[1],[3]],tf.int64),tf.ones((2,2)),2,4,sampled_values=sv).numpy().round(4))
ex=tf.train.Example(features=tf.train.Features(feature={"a":tf.train.Feature(int64_list=tf.train.Int64List(value=[1,2,3]))})).SerializeToString()
ex2=tf.train.Example(features=tf.train.Features(feature={"a":tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))})).SerializeToString()
print(tf.io.parse_single_example(ex,{"a":tf.io.VarLenFeature(tf.int64)})["a"].values.numpy(), tf.sparse.to_dense(tf.io.parse_example([ex,ex2],{"a":tf.io.VarLenFeature(tf.int64)})["a"]).numpy().tolist(), tf.io.parse_example([ex,ex2],{"a":tf.io.RaggedFeature(tf.int64)})["a"].to_list())
v=tf.Variable([[1.,2],[3,4]]); v.scatter_update(tf.IndexedSlices([[9.,9]],[1])); v.scatter_add(tf.IndexedSlices([[1.,1]],[0])); print(v.numpy().tolist())
r=tf.image.combined_non_max_suppression(tf.constant([[[[0,0,.5,.5]],[[0,0,.5,.45]],[[.6,.6,1,1]]]]), tf.constant([[[.9,.1],[.8,.7],[.3,.2]]]),2,4,score_threshold=.15); print([t.numpy().round(2).tolist() for t in r])
print(tf.math.zeta([2.,3.],[1.,2.]).numpy().round(5), tf.math.polygamma([1.,2.],[0.5,3.]).numpy().round(4), tf.math.betainc([.5,5.],[2.,1.],[.9,.2]).numpy().round(5))
@tf.function
def f(n):
    print("py", n.shape)
    if n > 2: tf.numpy_function(lambda q: print("np", q) or q, [n], tf.float32)
    return 3, "s", [n, None]
print(f(tf.constant(3.)), f(tf.constant(4.))[1])
ds=tf.data.Dataset.range(4).batch(3).rebatch(2); print([b.numpy().tolist() for b in ds])
print(tf.keras.backend.in_top_k(tf.constant([[.1,.9]]),tf.constant([1]),1).numpy(), tf.keras.optimizers.SGD().iterations.dtype)
print(tf.linalg.LinearOperatorLowerTriangular([[1.,5],[2,3]]).solve([[1.],[2]]).numpy().tolist(), tf.linalg.LinearOperatorFullMatrix([[2.,0],[0,3]]).log_abs_determinant().numpy().round(3))
q=tf.reshape(tf.range(48),(2,3,4,2)); print(tf.gather(q,[[1,0],[2,3]],axis=2,batch_dims=1).numpy().ravel().tolist(), tf.gather(q,[[[1],[0],[1]],[[2],[3],[0]]],batch_dims=2).shape, tf.gather(q,[[1,0],[2,2]],axis=-3,batch_dims=-1).shape)
